import type { LatePaymentStatus } from '../../domain/late-payment';
import type { PaymentStatus } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { LOGO_COLUMN, type Logo } from '../merchants/merchant-logos';

/** What the checkout page changes with: `version` and `latePayment`. */
export interface CheckoutStatus {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly version: number;
  readonly expiresAt: Date;
  /** Null if no money arrived after the end. */
  readonly latePayment: LatePaymentStatus | null;
}

/** What a customer may see of a payment, and what its merchant has registered for the page. */
export interface CheckoutRow extends CheckoutStatus {
  readonly referenceId: string;
  readonly merchantReferenceId: string | null;
  readonly merchantName: string;
  readonly totalRupiah: number;
  readonly qrisPayload: string | null;
  readonly paidAt: Date | null;
  readonly updatedAt: Date;
  /** `customer` and `metadata`; null if the request had none, or they were erased. */
  readonly sealedDetails: string | null;
  readonly contact: string | null;
  readonly returnUrl: string | null;
  readonly checkoutOrigins: readonly string[];
  /** The colour of the page, `#rrggbb`; null: that of Lunas. */
  readonly accent: string | null;
  readonly logo: Logo | null;
}

const STATUS_COLUMNS = `payments.id, payments.status, payments.version, payments.expires_at as "expiresAt",
  late_payments.status as "latePayment"`;
const WITH_LATE_PAYMENTS = 'payments left join late_payments on late_payments.payment_id = payments.id';

export async function findCheckout(db: Queryable, paymentId: string): Promise<CheckoutRow | undefined> {
  const { rows } = await db.query<CheckoutRow>({
    name: 'find_checkout',
    text: `select ${STATUS_COLUMNS}, payments.reference_id as "referenceId",
        payments.merchant_reference_id as "merchantReferenceId", merchants.name as "merchantName",
        payments.total_rupiah as "totalRupiah", payments.qris_payload as "qrisPayload", payments.paid_at as "paidAt",
        payments.updated_at as "updatedAt", details.sealed as "sealedDetails", merchants.contact,
        merchants.return_url as "returnUrl", merchants.checkout_origins as "checkoutOrigins", merchants.accent,
        ${LOGO_COLUMN}
      from ${WITH_LATE_PAYMENTS} join merchants on merchants.id = payments.merchant_id
        left join merchant_logos logo on logo.merchant_id = merchants.id
        left join payment_details details
          on details.payment_id = payments.id and details.fingerprint = payments.fingerprint
      where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0];
}

/** What the address of a page is made of, if the payment has this transaction at the provider. */
export async function findPaymentKey(
  db: Queryable,
  referenceId: string,
  providerTransactionId: string,
): Promise<{ readonly id: string; readonly fingerprint: string } | undefined> {
  const { rows } = await db.query<{ id: string; fingerprint: string }>({
    name: 'find_payment_key',
    text: 'select id, fingerprint from payments where reference_id = $1 and provider_transaction_id = $2',
    values: [referenceId, providerTransactionId],
  });
  return rows[0];
}

/** The statuses by payment id; payments that do not exist are absent. */
export async function findCheckoutStatuses(
  db: Queryable,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, CheckoutStatus>> {
  const { rows } = await db.query<CheckoutStatus>({
    name: 'find_checkout_statuses',
    text: `select ${STATUS_COLUMNS} from ${WITH_LATE_PAYMENTS} where payments.id = any ($1)`,
    values: [paymentIds],
  });
  return new Map(rows.map((row) => [row.id, row]));
}
