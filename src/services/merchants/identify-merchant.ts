import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { actorText, type Person } from '../../domain/actor';
import { ConflictError } from '../../errors';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import type { SealingDependencies } from '../provider-accounts/provider-accounts';
import {
  DETAIL_RULES,
  findNmidHolder,
  hashOfDetails,
  IDENTITY_COLUMNS,
  identityOf,
  PUBLIC_RULES,
  type IdentityDetails,
  type MerchantIdentity,
} from './merchant-identity';
import { findMerchant } from './merchants';

const { nmid, ...PUBLIC_INPUT } = PUBLIC_RULES;

const SUPERSEDED = 'The merchant has another identity now than this request: request it again.';

/**
 * Sets who a merchant is, as the next version. In production two operators decide it: until then the version is
 * proposed, and the approval has the hash of its sealed details.
 */
export const identifyMerchant = new Operation({
  name: 'merchant.set_identity',
  operator: 'all',
  /** The NMID is of one merchant only. */
  path: z.object({ merchantId: z.uuid(), nmid }),
  input: z.object({
    ...PUBLIC_INPUT,
    /** Absent: the version is proposed already. */
    details: z.object(DETAIL_RULES).optional().meta({ isSecret: true }),
    /** Names the proposed version. */
    version: z.int().optional(),
    detailsSha256: z.string().optional(),
  }),
  rejections: { nmid_taken: { nmid: z.string(), holder: z.string() }, superseded: {} },
  messages: {
    nmid_taken: ({ nmid, holder }) => `NMID ${nmid} is that of merchant ${holder}.`,
    superseded: () => SUPERSEDED,
  },
  async load({ db }: SealingDependencies, _scope, { merchantId, nmid }) {
    const { name } = await findMerchant(db, merchantId);
    const [next, holder] = [await findNextVersion(db, merchantId), await findNmidHolder(db, nmid, merchantId)];
    return { merchantId, nmid, name, next, holder };
  },
  target: ({ subject: { merchantId } }) => merchantId,
  allows: ({ nmid, holder }) => (holder === null ? null : { reason: 'nmid_taken', nmid, holder }),
  approval: {
    executes: 'database',
    target: ({ subject: { name, merchantId }, input }) => `${input.tradingName}, until now ${name} (${merchantId})`,
    propose({ needs, by, subject, input: { details, tradingName, category, criterion, validUntil } }) {
      if (details === undefined) return null;
      const { merchantId, nmid, next: version } = subject;
      const shown = { merchantId, version, tradingName, category, criterion, nmid, validUntil };
      const sealing = saltedDetails(details);
      const proposal = { ...shown, sealing, isInForce: false };
      return {
        parameters: { ...shown, detailsSha256: sealing.sha256.toString('hex') },
        async store() {
          if ((await insertVersion(needs, by, proposal)) === null) throw new ConflictError('superseded', SUPERSEDED);
        },
      };
    },
  },
  async perform({ needs, by, subject, input: { details, ...input } }) {
    const { merchantId, nmid, next } = subject;
    const identity =
      details === undefined
        ? await acceptProposal(needs.db, merchantId, input)
        : await insertVersion(needs, by, {
            ...input,
            merchantId,
            nmid,
            version: next,
            sealing: saltedDetails(details),
            isInForce: true,
          });
    return identity === null ? rejected({ reason: 'superseded' }) : done(identity);
  },
});

async function findNextVersion(db: Queryable, merchantId: string): Promise<number> {
  const { rows } = await db.query<{ next: number }>(
    'select coalesce(max(version), 0) + 1 as next from merchant_identities where merchant_id = $1',
    [merchantId],
  );
  return onlyRow(rows).next;
}

/** The text that is sealed. The salt keeps its hash from being compared with guessed details. */
function saltedDetails(details: IdentityDetails): { readonly text: string; readonly sha256: Buffer } {
  const text = JSON.stringify({ salt: randomBytes(32).toString('base64'), ...details });
  return { text, sha256: hashOfDetails(text) };
}

interface NewVersion extends Omit<MerchantIdentity, 'class' | 'inForceFrom'> {
  readonly sealing: ReturnType<typeof saltedDetails>;
  readonly isInForce: boolean;
}

/** Null if there is such a version already. */
async function insertVersion(
  { db, loadSealer }: SealingDependencies,
  by: Person,
  { merchantId, version, sealing, ...identity }: NewVersion,
): Promise<MerchantIdentity | null> {
  const sealed = (await loadSealer()).seal(sealing.text, ['merchant-identity', merchantId, String(version)]);
  const { rows } = await db.query<Omit<MerchantIdentity, 'class'>>(
    `insert into merchant_identities (merchant_id, version, trading_name, category, criterion, nmid, valid_until,
       sealed_details, details_sha256, proposed_by, in_force_from)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $11 then now() end)
     on conflict do nothing returning ${IDENTITY_COLUMNS}`,
    [
      merchantId,
      version,
      identity.tradingName,
      identity.category,
      identity.criterion,
      identity.nmid,
      identity.validUntil,
      sealed,
      sealing.sha256,
      actorText(by),
      identity.isInForce,
    ],
  );
  return rows[0] ? identityOf(rows[0]) : null;
}

/** Null if no such version waits, or a newer one is in force. */
async function acceptProposal(
  db: Queryable,
  merchantId: string,
  { version, detailsSha256 }: { readonly version?: number | undefined; readonly detailsSha256?: string | undefined },
): Promise<MerchantIdentity | null> {
  const { rows } = await db.query<Omit<MerchantIdentity, 'class'>>(
    `update merchant_identities proposal set in_force_from = now()
     where merchant_id = $1 and version = $2 and encode(details_sha256, 'hex') = $3 and in_force_from is null
       and not exists (
         select from merchant_identities newer
         where newer.merchant_id = $1 and newer.version > $2 and newer.in_force_from is not null)
     returning ${IDENTITY_COLUMNS}`,
    [merchantId, version, detailsSha256],
  );
  return rows[0] ? identityOf(rows[0]) : null;
}
