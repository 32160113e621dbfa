import type { LinkTerms } from '../../domain/payment-link';

/** The row of a payment link, and what its payments have paid. Archived payments count in none of the figures. */
export type PaymentLinkRow = LinkTerms & {
  readonly id: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly fingerprint: string;
  readonly createdAt: Date;
  /** The actor. */
  readonly createdBy: string;
  readonly closedAt: Date | null;
  readonly paidCount: number;
  readonly paidRupiah: number;
  /** Whether a payment was paid, also one that is archived. */
  readonly hasPaid: boolean;
};

/** What of a link is stored and never changes, for a table named or aliased `link`. */
export const LINK_TERM_COLUMNS = `link.id, link.reference_id as "referenceId", link.merchant_id as "merchantId",
  link.kind, link.provider, link.amount_rupiah as "amountRupiah", link.minimum_rupiah as "minimumRupiah",
  link.maximum_rupiah as "maximumRupiah", link.title, link.merchant_reference_id as "merchantReferenceId",
  link.return_url as "returnUrl", link.expires_at as "expiresAt",
  link.payment_expires_in_seconds as "paymentExpiresInSeconds", link.fingerprint, link.created_at as "createdAt",
  link.created_by as "createdBy", link.closed_at as "closedAt"`;

/** Only a once-link ends when it is paid. */
export const HAS_PAID = `(link.kind = 'once' and payment_link_has_paid(link.id))`;

/** The select list of a `PaymentLinkRow`, for `LINKS`. */
export const LINK_COLUMNS = `${LINK_TERM_COLUMNS}, figures.paid_count as "paidCount",
  figures.paid_rupiah as "paidRupiah", ${HAS_PAID} as "hasPaid"`;

/** Links by this condition, with the figures of each. */
export const linksWhere = (condition: string) => `(select * from payment_links link where ${condition}) link
  cross join lateral (
    select count(*) as paid_count, coalesce(sum(payments.amount_rupiah), 0)::bigint as paid_rupiah
    from payment_link_payments own join payments on payments.id = own.payment_id
    where own.link_id = link.id and payments.paid_at is not null
  ) figures`;
