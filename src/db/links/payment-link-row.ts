import type { LinkTerms } from '../../domain/payment-link';

/** The row of a payment link. Payments that were refunded or archived since count as paid. */
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
  readonly hasPaid: boolean;
};

/** What of a link is stored and never changes, for a table named or aliased `link`. */
export const LINK_TERM_COLUMNS = `link.id, link.reference_id as "referenceId", link.merchant_id as "merchantId",
  link.kind, link.provider, link.amount_rupiah as "amountRupiah", link.minimum_rupiah as "minimumRupiah",
  link.maximum_rupiah as "maximumRupiah", link.title, link.merchant_reference_id as "merchantReferenceId",
  link.return_url as "returnUrl", link.expires_at as "expiresAt",
  link.payment_expires_in_seconds as "paymentExpiresInSeconds", link.fingerprint, link.created_at as "createdAt",
  link.created_by as "createdBy", link.closed_at as "closedAt"`;

/** The select list of a `PaymentLinkRow`, for a table named or aliased `link`. */
export const LINK_COLUMNS = `${LINK_TERM_COLUMNS}, link.paid_count as "paidCount", link.paid_rupiah as "paidRupiah",
  link.paid_count > 0 as "hasPaid"`;
