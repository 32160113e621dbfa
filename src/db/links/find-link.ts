import type { Scope } from '../../domain/actor';
import type { Queryable } from '../connection/pool';
import { LINK_COLUMNS, type PaymentLinkRow } from './payment-link-row';

/** A path names a link by either of these. */
export type LinkKey = { readonly id: string } | { readonly referenceId: string };

/** A link in the scope; undefined also if it is another merchant's. */
export async function findLink(db: Queryable, scope: Scope, key: LinkKey): Promise<PaymentLinkRow | undefined> {
  const [column, value] = 'id' in key ? (['id', key.id] as const) : (['reference_id', key.referenceId] as const);
  const condition = `link.${column} = $1 and ($2::uuid is null or link.merchant_id = $2)`;
  const { rows } = await db.query<PaymentLinkRow>({
    name: `find_link_by_${column}`,
    text: `select ${LINK_COLUMNS} from payment_links link where ${condition}`,
    values: [value, scope === 'all' ? null : scope.merchantId],
  });
  return rows[0];
}

/** What a payment shows of its link. */
export interface LinkOfPayment {
  readonly id: string;
  readonly title: string;
}

/** The link by which a payment was made; null: by none. */
export async function findLinkOfPayment(db: Queryable, paymentId: string): Promise<LinkOfPayment | null> {
  const { rows } = await db.query<LinkOfPayment>({
    name: 'find_link_of_payment',
    text: `select link.id, link.title
      from payment_link_payments own join payment_links link on link.id = own.link_id where own.payment_id = $1`,
    values: [paymentId],
  });
  return rows[0] ?? null;
}
