import type { PaymentTerms } from '../../domain/payment';
import type { Queryable } from '../connection/pool';

/** The select list of `PaymentTerms`, for a table named or aliased `payments`. */
export const TERMS_COLUMNS = `
  payments.id as "paymentId", payments.reference_id as "referenceId", payments.merchant_id as "merchantId",
  payments.merchant_reference_id as "merchantReferenceId", payments.idempotency_key as "idempotencyKey",
  payments.fingerprint, payments.payment_method as "paymentMethod", payments.provider,
  payments.provider_account_id as "providerAccountId", payments.amount_rupiah as "amountRupiah",
  payments.fee_rupiah as "feeRupiah", payments.total_rupiah as "totalRupiah", payments.net_rupiah as "netRupiah",
  payments.fee_payer as "feePayer", payments.fee_terms as "feeTerms", payments.vat_rupiah as "vatRupiah",
  payments.policy_id as "policyId",
  payments.settlement_kind as "settlementKind",
  payments.settlement_delay_seconds as "settlementDelaySeconds",
  extract(
    epoch from payments.expires_at - date_trunc('second', payments.created_at + interval '999 milliseconds')
  )::integer as "expiresInSeconds"`;

/** The terms of a payment from its row: the input that its workflow was started with. */
export async function findTerms(db: Queryable, paymentId: string): Promise<PaymentTerms> {
  const recorded = await findRecordedTerms(db, paymentId);
  if (!recorded) throw new Error(`There is no payment ${paymentId}`);
  const { isMerchantOnHold: _, issuedTransactionId: __, ...terms } = recorded;
  return terms;
}

export interface RecordedTerms extends PaymentTerms {
  /** The merchant's payments do not settle (`lunas merchants hold`). */
  readonly isMerchantOnHold: boolean;
  /** The transaction that the provider issued; null before. */
  readonly issuedTransactionId: string | null;
}

/** The terms of a payment, and what the merchant's status means for them; undefined if PostgreSQL does not have it. */
export async function findRecordedTerms(db: Queryable, paymentId: string): Promise<RecordedTerms | undefined> {
  const { rows } = await db.query<RecordedTerms>({
    name: 'find_terms',
    text: `select ${TERMS_COLUMNS}, merchants.held_at is not null as "isMerchantOnHold",
        payments.provider_transaction_id as "issuedTransactionId"
      from payments join merchants on merchants.id = payments.merchant_id where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0];
}
