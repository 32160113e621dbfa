import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow, requireRow } from '../../db/connection/require-row';
import { classOf, MERCHANT_CATEGORIES, MERCHANT_CRITERIA, type MerchantClass } from '../../domain/merchant-identity';
import { dayInWib, YEARS } from '../../domain/wib';
import { parseJson } from '../../lib/parse-json';
import type { Reasons, Rejection, RejectionTexts } from '../operations/rejections';

/** The national id of a merchant. */
export const NMID = /^ID\d{13}$/;

/** The name in the customer's app: tag 59 of EMVCo has 25 characters. */
export const SHOWN_NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,23}[\x21-\x7e])?$/;

// The messages of these schemas follow the key, in the file of `lunas merchants identify`.

const text = (pattern: RegExp, rule: string) =>
  z.string({ error: ({ input }) => (input === undefined ? 'is missing' : rule) }).regex(pattern, rule);
const words = (characters: number) =>
  text(new RegExp(`^(?=.*\\S)\\P{Cc}{1,${characters}}$`, 'u'), `must have 1 to ${characters} characters in one line`);
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: ({ input }) => (input === undefined ? 'is missing' : `must be ${values.join(', ')}`) });

const NO_DATE = 'must be a date such as 2027-01-31, or null';

/** What processes and pages read of an identity. */
export const PUBLIC_RULES = {
  tradingName: text(SHOWN_NAME, 'must have 1 to 25 printable ASCII characters'),
  category: oneOf(MERCHANT_CATEGORIES),
  criterion: oneOf(MERCHANT_CRITERIA),
  nmid: text(NMID, 'must be ID and 13 digits'),
  /** When the first document expires; null: none does. */
  validUntil: z.iso.date({ error: NO_DATE, abort: true }).regex(YEARS, NO_DATE).nullable().default(null),
};

/** What is sealed. */
export const DETAIL_RULES = {
  legalName: words(100),
  ownerName: words(100),
  ownerIdNumber: text(/^\d{16}$/, 'must have 16 digits'),
  taxNumber: text(/^\d{15,16}$/, 'must have 15 or 16 digits'),
  address: words(200),
  village: words(60),
  district: words(60),
  city: words(60),
  postalCode: text(/^\d{5}$/, 'must have 5 digits'),
  /** Where the copies are. */
  documents: words(200),
};
const detailsSchema = z.object(DETAIL_RULES);
export type IdentityDetails = z.output<typeof detailsSchema>;

/** The address in one line, as pages and invoices have it. */
export function fullAddressOf({ address, village, district, city, postalCode }: IdentityDetails): string {
  return [address, village, district, city, postalCode].join(', ');
}

/** A version of who a merchant is, without what is sealed. */
export interface MerchantIdentity {
  readonly merchantId: string;
  readonly version: number;
  readonly tradingName: string;
  readonly category: (typeof MERCHANT_CATEGORIES)[number];
  readonly criterion: (typeof MERCHANT_CRITERIA)[number];
  readonly class: MerchantClass;
  readonly nmid: string;
  /** `2027-01-31`. */
  readonly validUntil: string | null;
  /** Null: a proposal. */
  readonly inForceFrom: Date | null;
}

export const IDENTITY_COLUMNS = `merchant_id as "merchantId", version, trading_name as "tradingName", category,
  criterion, nmid, to_char(valid_until, 'YYYY-MM-DD') as "validUntil", in_force_from as "inForceFrom"`;

type IdentityRow = Omit<MerchantIdentity, 'class'>;

export function identityOf(row: IdentityRow): MerchantIdentity {
  const { merchantId, version, tradingName, category, criterion, ...others } = row;
  return { merchantId, version, tradingName, category, criterion, class: classOf(row), ...others };
}

/** The newest version in force; null: there is none. */
export async function findIdentityInForce(db: Queryable, merchantId: string): Promise<MerchantIdentity | null> {
  const { rows } = await db.query<IdentityRow>(
    `select ${IDENTITY_COLUMNS} from merchant_identities
     where merchant_id = $1 and in_force_from is not null order by version desc limit 1`,
    [merchantId],
  );
  return rows[0] ? identityOf(rows[0]) : null;
}

/** The merchant whose identity in force has the NMID, but for `except`; null: none has it. */
export async function findNmidHolder(db: Queryable, nmid: string, except: string | null): Promise<string | null> {
  const { rows } = await db.query<{ holder: string }>(
    `select merchant_id as holder from merchant_identities held
     where nmid = $1 and merchant_id is distinct from $2 and in_force_from is not null and not exists (
       select from merchant_identities newer
       where newer.merchant_id = held.merchant_id and newer.version > held.version
         and newer.in_force_from is not null)`,
    [nmid, except],
  );
  return rows[0]?.holder ?? null;
}

/** @param version absent: the one in force, else the newest proposal */
export async function findIdentity(
  db: Queryable,
  merchantId: string,
  version?: number,
): Promise<MerchantIdentity | null> {
  const { rows } = await db.query<IdentityRow>(
    `select ${IDENTITY_COLUMNS} from merchant_identities where merchant_id = $1 and version = coalesce($2, version)
     order by in_force_from is null, version desc limit 1`,
    [merchantId, version],
  );
  return rows[0] ? identityOf(rows[0]) : null;
}

/**
 * The wanted version, which must be there.
 * @param version absent: the one in force, else the newest proposal
 * @throws NotFoundError
 */
export async function requireIdentity(db: Queryable, merchantId: string, version?: number): Promise<MerchantIdentity> {
  const identity = await findIdentity(db, merchantId, version);
  const name = version === undefined ? merchantId : `${merchantId}, version ${version}`;
  return requireRow(identity === null ? [] : [identity], 'identity', name);
}

/** The hash of the text that is sealed, as `details_sha256` has it. */
export function hashOfDetails(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Opens the sealed part of a version.
 * @throws Error if it does not have the hash that two operators have approved
 */
export async function openIdentityDetails(
  { db, sealer }: { readonly db: Queryable; readonly sealer: Sealer },
  { merchantId, version }: Pick<MerchantIdentity, 'merchantId' | 'version'>,
): Promise<IdentityDetails> {
  const { rows } = await db.query<{ sealed: string; sha256: Buffer }>(
    `select sealed_details as sealed, details_sha256 as sha256 from merchant_identities
     where merchant_id = $1 and version = $2`,
    [merchantId, version],
  );
  const { sealed, sha256 } = onlyRow(rows);
  const opened = sealer.open(sealed, ['merchant-identity', merchantId, String(version)]);
  if (!hashOfDetails(opened).equals(sha256)) {
    throw new Error(`The sealed details of version ${version} of merchant ${merchantId} are not those of its hash`);
  }
  return detailsSchema.parse(parseJson(opened));
}

/** Why production does not approve a merchant. */
export const UNIDENTIFIED_REASONS = {
  no_identity: { subject: z.string() },
  identity_expired: { subject: z.string(), validUntil: z.string() },
} as const satisfies Reasons;
export type Unidentified = Rejection<typeof UNIDENTIFIED_REASONS>;

export const UNIDENTIFIED_MESSAGES: RejectionTexts<typeof UNIDENTIFIED_REASONS> = {
  no_identity: ({ subject }) => `${subject} cannot be approved: it has no identity in force.`,
  identity_expired: ({ subject, validUntil }) =>
    `${subject} cannot be approved: its documents expired on ${validUntil}.`,
};

/** Null: the merchant can be approved. In a sandbox each can. */
export async function findUnidentified(db: Queryable, merchantId: string): Promise<Unidentified | null> {
  if ((await findEnvironment(db)) !== 'production') return null;
  const subject = `Merchant ${merchantId}`;
  const identity = await findIdentityInForce(db, merchantId);
  if (identity === null) return { reason: 'no_identity', subject };
  const { validUntil } = identity;
  if (validUntil === null || validUntil >= dayInWib(new Date())) return null;
  return { reason: 'identity_expired', subject, validUntil };
}
