import type { PaymentTerms } from '../../domain/payment';
import type { PaymentStatus } from '../../domain/payment-transitions';

/** The captured terms that responses do not need, and the id, which has another name here. */
type UnselectedTerm =
  | 'paymentId'
  | 'idempotencyKey'
  | 'policyId'
  | 'settlementDelaySeconds'
  | 'expiresInSeconds'
  | 'sealedDetails'
  | 'correlation';

/** The row of a payment, in camel case, without the columns of sealed data. */
export interface PaymentRow extends Omit<PaymentTerms, UnselectedTerm> {
  readonly id: string;
  readonly vatRupiah: number;
  readonly currency: 'IDR';
  readonly status: PaymentStatus;
  readonly version: number;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly paidAt: Date | null;
  readonly cancelledAt: Date | null;
  readonly settlementDueAt: Date | null;
  readonly qrisPayload: string | null;
  readonly failureReason: string | null;
}

/** The select list of a `PaymentRow`, for a table named or aliased `payments`. */
export const PAYMENT_COLUMNS = `
  payments.id, payments.reference_id as "referenceId", payments.merchant_id as "merchantId",
  payments.merchant_reference_id as "merchantReferenceId", payments.fingerprint,
  payments.payment_method as "paymentMethod", payments.provider, payments.provider_account_id as "providerAccountId",
  payments.currency, payments.amount_rupiah as "amountRupiah", payments.fee_rupiah as "feeRupiah",
  payments.total_rupiah as "totalRupiah", payments.net_rupiah as "netRupiah", payments.fee_payer as "feePayer",
  payments.fee_terms as "feeTerms", payments.vat_rupiah as "vatRupiah",
  payments.settlement_kind as "settlementKind", payments.status, payments.version,
  payments.expires_at as "expiresAt", payments.created_at as "createdAt", payments.updated_at as "updatedAt",
  payments.paid_at as "paidAt", payments.cancelled_at as "cancelledAt",
  payments.settlement_due_at as "settlementDueAt", payments.qris_payload as "qrisPayload",
  payments.failure_reason as "failureReason"`;
