import type { LinkTerms } from '../../domain/payment-link';
import type { PaymentStatus } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { LOGO_COLUMN, type Logo } from '../merchants/merchant-logos';
import { LINK_TERM_COLUMNS } from './payment-link-row';

/** The newest payment of a link; of one whose process died before the creation only the number. */
export interface NewestLinkPayment {
  readonly number: number;
  readonly paymentId: string;
  readonly amountRupiah: number | null;
  readonly status: PaymentStatus | null;
  readonly fingerprint: string | null;
  readonly expiresAtMs: number | null;
}

/** What the page of a link shows, and what decides about a payment by it. */
export type OpenedLink = LinkTerms & {
  readonly id: string;
  readonly merchantId: string;
  readonly fingerprint: string;
  readonly closedAt: Date | null;
  readonly hasPaid: boolean;
  readonly merchantName: string;
  /** A merchant that is not approved takes no payments. */
  readonly merchantStatus: 'pending' | 'approved' | 'suspended';
  readonly contact: string | null;
  readonly checkoutOrigins: readonly string[];
  readonly accent: string | null;
  readonly logo: Logo | null;
  /** Only of a once-link: every visitor gets the same payment. Null: it has none. */
  readonly newest: NewestLinkPayment | null;
};

const NEWEST = `select json_build_object('number', own.number, 'paymentId', own.payment_id,
    'amountRupiah', payments.amount_rupiah, 'status', payments.status, 'fingerprint', payments.fingerprint,
    'expiresAtMs', (extract(epoch from payments.expires_at) * 1000)::bigint)
  from payment_link_payments own left join payments on payments.id = own.payment_id
  where own.link_id = link.id order by own.number desc limit 1`;

export async function findOpenedLink(db: Queryable, linkId: string): Promise<OpenedLink | undefined> {
  const { rows } = await db.query<OpenedLink>({
    name: 'find_opened_link',
    text: `select ${LINK_TERM_COLUMNS}, link.paid_count > 0 as "hasPaid", merchants.name as "merchantName",
        merchants.status as "merchantStatus", merchants.contact, merchants.checkout_origins as "checkoutOrigins",
        merchants.accent, ${LOGO_COLUMN},
        case when link.kind = 'once' then (${NEWEST}) end as newest
      from payment_links link join merchants on merchants.id = link.merchant_id
        left join merchant_logos logo on logo.merchant_id = merchants.id
      where link.id = $1`,
    values: [linkId],
  });
  return rows[0];
}
