import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow, requireRow } from '../../db/connection/require-row';
import type { Scope } from '../../domain/actor';
import type { FeePayer } from '../../domain/fees';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { TimeZone } from '../../domain/sign-in';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';

export const PAYMENT_METHOD_STATUSES = ['active', 'inactive'] as const;

export interface Merchant {
  readonly id: string;
  /** In the paths of the dashboard: 8 characters, derived from the id. */
  readonly code: string;
  readonly name: string;
  readonly status: 'pending' | 'approved' | 'suspended';
  readonly feePayer: FeePayer;
  readonly providers: readonly ProviderName[];
  readonly paymentMethod: (typeof PAYMENT_METHOD_STATUSES)[number];
  /** Since then nothing of the merchant is settled; null if it is not on hold. */
  readonly heldAt: Date | null;
  /** The address of the checkout page's link back to the shop; null if there is none. */
  readonly returnUrl: string | null;
  /** How customers reach the shop: an e-mail address, a telephone number or a page; null if none is registered. */
  readonly contact: string | null;
  /** The origins whose pages may show the checkout page in a frame. */
  readonly checkoutOrigins: readonly string[];
  /** The time zone of its pages and exports. */
  readonly timeZone: TimeZone;
  readonly createdAt: Date;
}

export interface NewMerchant extends Pick<Merchant, 'name' | 'feePayer' | 'providers'> {
  /** Absent: a new one. */
  readonly id?: string;
  /** Whether it may take payments immediately; otherwise it is `pending` until an operator approves it. */
  readonly approve: boolean;
}

/** The fields that can change. In the text of each, `?` is its value. */
const ASSIGNMENTS = [
  ['status', 'status = ?'],
  ['feePayer', 'fee_payer = ?'],
  ['providers', 'providers = ?'],
  ['paymentMethod', "payment_method_active = (? = 'active')"],
  ['timeZone', 'time_zone = ?'],
  ['returnUrl', 'return_url = ?'],
  ['contact', 'contact = ?'],
  ['checkoutOrigins', 'checkout_origins = ?'],
] as const satisfies readonly (readonly [keyof Merchant, string])[];

/** Absent fields do not change. */
export type MerchantChanges = {
  readonly [Field in (typeof ASSIGNMENTS)[number][0]]?: Merchant[Field] | undefined;
};

const MERCHANT_COLUMNS = `id, code, name, status, fee_payer as "feePayer", providers,
  case when payment_method_active then 'active' else 'inactive' end as "paymentMethod", held_at as "heldAt",
  return_url as "returnUrl", checkout_origins as "checkoutOrigins", contact, time_zone as "timeZone",
  created_at as "createdAt"`;

/** What every operation on a merchant has. */
export const ofMerchant = {
  path: z.object({ merchant: z.uuid() }),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, scope: Scope, { merchant }: { readonly merchant: string }) =>
    loadMerchant(db, scope, merchant),
  target: ({ subject }: { readonly subject: Merchant }) => subject.id,
} as const;

/** Which members change the look of the checkout page. */
export const ofLook = { area: 'settings', level: 'manage', stepUp: true, whileSuspended: true } as const;

/** @throws NotFoundError if the person reaches no such merchant */
export function loadMerchant(db: Queryable, scope: Scope, merchantId: string): Promise<Merchant> {
  if (scope !== 'all' && scope.merchantId !== merchantId) throw new NotFoundError('merchant', merchantId);
  return findMerchant(db, merchantId);
}

export async function insertMerchant(db: Queryable, merchant: NewMerchant): Promise<Merchant> {
  const { rows } = await db.query<Merchant>(
    `insert into merchants (id, name, status, fee_payer, providers) values ($1, $2, $3, $4, $5)
     returning ${MERCHANT_COLUMNS}`,
    [
      merchant.id ?? uuidv7(),
      merchant.name,
      merchant.approve ? 'approved' : 'pending',
      merchant.feePayer,
      unique(merchant.providers),
    ],
  );
  return onlyRow(rows, 'The merchant was not written');
}

/** In the order of their creation. */
export async function listMerchants(db: Queryable): Promise<Merchant[]> {
  const { rows } = await db.query<Merchant>(`select ${MERCHANT_COLUMNS} from merchants order by created_at, id`);
  return rows;
}

/** @throws NotFoundError if there is no such merchant */
export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant> {
  const { rows } = await db.query<Merchant>(`select ${MERCHANT_COLUMNS} from merchants where id = $1`, [merchantId]);
  return requireRow(rows, 'merchant', merchantId);
}

/**
 * The statement names only the columns that change, because each database role may change a few.
 * @throws NotFoundError if there is no such merchant
 */
export async function changeMerchant(db: Queryable, merchantId: string, changes: MerchantChanges): Promise<Merchant> {
  const { providers, checkoutOrigins } = changes;
  const values: MerchantChanges = {
    ...changes,
    ...(providers && { providers: unique(providers) }),
    ...(checkoutOrigins && { checkoutOrigins: unique(checkoutOrigins) }),
  };
  const changed = ASSIGNMENTS.filter(([field]) => values[field] !== undefined);
  if (changed.length === 0) return findMerchant(db, merchantId);
  const assignments = changed.map(([, text], index) => text.replace('?', () => `$${index + 2}`));
  const { rows } = await db.query<Merchant>(
    `update merchants set ${assignments.join(', ')} where id = $1 returning ${MERCHANT_COLUMNS}`,
    [merchantId, ...changed.map(([field]) => values[field])],
  );
  return requireRow(rows, 'merchant', merchantId);
}

/**
 * A statement of its own: the API's role may change nothing else of a merchant.
 * @throws NotFoundError if there is no such merchant
 */
export async function changeHold(db: Queryable, merchantId: string, isHeld: boolean): Promise<Merchant> {
  const { rows } = await db.query<Merchant>(
    `update merchants set held_at = case when $2 then coalesce(held_at, now()) end
     where id = $1 returning ${MERCHANT_COLUMNS}`,
    [merchantId, isHeld],
  );
  return requireRow(rows, 'merchant', merchantId);
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
