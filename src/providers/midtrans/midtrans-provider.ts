import { createHash } from 'node:crypto';
import { indeterminate, type Indeterminate } from '../../domain/provider-call';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { ProviderPaymentStatus } from '../../domain/provider-status';
import { differs, readFields } from '../../lib/fields';
import type {
  ClosePaymentOutcome,
  FindPaymentOutcome,
  IssueQrisOutcome,
  IssueQrisRequest,
  OrderKey,
  Provider,
  ProviderCall,
  ProviderPayment,
  RefundOutcome,
  RefundRequest,
  Rejected,
} from '../provider';
import { changedAmount, findQrisFault, type AccountShop, type ExpectedQris, type QrisFault } from '../validate-qris';
import { MidtransClient, type MidtransResponse } from './midtrans-client';
import { formatOrderTime } from './midtrans-time';
import { verifyNotification } from './notification';
import { chargeResponseSchema, closeResponseSchema, statusResponseSchema } from './schemas';

export interface MidtransOptions {
  /** `https://api.midtrans.com`, its sandbox, or ours. */
  readonly baseUrl: string;
  readonly serverKey: string;
  /** The shop that each QR must have. Absent: not known. */
  readonly shop?: AccountShop;
  /** The address to which Midtrans sends the notifications of our orders. */
  readonly notificationUrl: string;
}

const UNKNOWN_SHOP = { nmid: null, shownName: null } as const satisfies AccountShop;

/** Our providers are the acquirers of Midtrans' `payment_type: qris`. */
const ACQUIRERS = { gopay: 'gopay', shopeepay: 'airpay shopee' } as const satisfies Record<ProviderName, string>;

/**
 * With these codes Midtrans reports that it did not create the order, or the refund. The others, such as 406, 429 and
 * 5xx, are indeterminate.
 */
const CHARGE_REJECTIONS = new Set(['202', '400', '401', '402', '403', '404', '405', '410', '411', '413']);
const REFUND_REJECTIONS = new Set(['202', '400', '401', '402', '403', '404', '405', '410', '411', '412', '413', '414']);
const CLOSE_REJECTIONS = new Set(['404', '412']);
/** Wrong key, no access, expired, suspended: errors of our provider account, which merchants do not see. */
const ACCOUNT_ERRORS = new Set(['401', '402', '403', '410', '411']);
const ACCOUNT_ERROR_FOR_MERCHANTS = 'the provider rejected it';

/**
 * QRIS through Midtrans' Core API (docs.midtrans.com: "QRIS", "Get Transaction Status", "Expire", "Cancel", "Refund",
 * "HTTP notification"). `close` closes its connections.
 */
export function createMidtransProvider(options: MidtransOptions): Provider & { close(): Promise<void> } {
  const client = new MidtransClient(options);
  return {
    issueQris: (request, call) => issueQris(client, options, request, call),
    findPayment: (order, call) => findPayment(client, options, order, call),
    expirePayment: (order, call) => closePayment(client, { order, operation: 'expire' }, call),
    cancelPayment: (order, call) => closePayment(client, { order, operation: 'cancel' }, call),
    refundPayment: (request, call) => refundPayment(client, request, call),
    verifyNotification: (notification) => verifyNotification(notification, options.serverKey),
    close: () => client.close(),
  };
}

/**
 * Creates an order. 406 means that the order exists: indeterminate, the caller queries it.
 *
 * The documentation does not promise `qr_string`. An order without one, or with an invalid one, is unusable. The action
 * URL is no alternative: it has an image, and merchants are promised the payload.
 */
async function issueQris(
  client: MidtransClient,
  { notificationUrl, shop = UNKNOWN_SHOP }: MidtransOptions,
  request: IssueQrisRequest,
  call: ProviderCall,
): Promise<IssueQrisOutcome> {
  const response = await client.call(
    {
      method: 'POST',
      path: '/v2/charge',
      headers: {
        'x-override-notification': notificationUrl,
        'idempotency-key': idempotencyKey('charge', request.referenceId),
      },
      body: {
        payment_type: 'qris',
        transaction_details: { order_id: request.referenceId, gross_amount: request.totalRupiah },
        qris: { acquirer: ACQUIRERS[request.provider] },
        custom_expiry: customExpiry(request),
      },
    },
    call,
  );
  if (response.outcome === 'indeterminate') return response;
  if (CHARGE_REJECTIONS.has(response.statusCode)) return rejected(response);
  if (response.statusCode !== '201' && response.statusCode !== '200') return undecided(response);

  const charge = readFields(chargeResponseSchema, response.body);
  if (!charge.ok) return indeterminate(`the order may be open: ${charge.reason}`);
  const { order_id, transaction_id, qr_string } = charge.fields;
  if (order_id !== request.referenceId) {
    return indeterminate(`it is another order: ${differs('order_id', order_id, request.referenceId)}`);
  }
  const fault = findFault(charge.fields, { totalRupiah: request.totalRupiah, ...shop });
  if (fault !== null) return { outcome: 'unusable', ...fault };
  return { outcome: 'accepted', providerTransactionId: transaction_id, qrisPayload: qr_string };
}

/** Why no customer may get the QR of an open order; null if it is as requested. */
function findFault(
  { gross_amount, qr_string }: { readonly gross_amount: number; readonly qr_string: string },
  expected: ExpectedQris,
): QrisFault | null {
  if (gross_amount !== expected.totalRupiah) return changedAmount('gross_amount', gross_amount, expected.totalRupiah);
  const fault = findQrisFault(qr_string, expected);
  return fault && { ...fault, reason: `qr_string: ${fault.reason}` };
}

/** Whole seconds, rounded so that the acquirer accepts no payment after our own deadline. */
function customExpiry({ createdAt, expiresAt }: IssueQrisRequest) {
  const createdAtSeconds = Math.floor(createdAt.getTime() / 1000);
  const expiresAtSeconds = Math.floor(expiresAt.getTime() / 1000);
  return {
    order_time: formatOrderTime(createdAt),
    expiry_duration: Math.max(1, expiresAtSeconds - createdAtSeconds),
    unit: 'second',
  };
}

async function findPayment(
  client: MidtransClient,
  { shop = UNKNOWN_SHOP }: MidtransOptions,
  order: OrderKey,
  call: ProviderCall,
): Promise<FindPaymentOutcome> {
  const response = await client.call({ method: 'GET', path: pathOf(order.referenceId, 'status') }, call);
  if (response.outcome === 'indeterminate') return response;
  if (response.statusCode === '404') return { outcome: 'not_found' };
  // The code repeats the state (201 pending, 407 expired …), so only the state is read.
  const status = readFields(statusResponseSchema, response.body);
  if (!status.ok) return indeterminate(`${status.reason} (${response.status})`);
  const foreign = foreignOrder(order, status.fields);
  if (foreign !== null) return indeterminate(`it is another order: ${foreign}`);
  const { transaction_status, transaction_id, gross_amount, settlement_time, qr_string } = status.fields;
  const refunds = (status.fields.refunds ?? []).map((refund) => ({
    refundKey: refund.refund_key,
    providerReference: refund.refund_chargeback_id,
    totalRupiah: refund.refund_amount,
    confirmedAt: refund.bank_confirmed_at,
  }));
  const reportsRefund = transaction_status === 'refunded';
  if (reportsRefund && refunds.length === 0) return indeterminate('transaction_status is a refund, refunds has none');
  const unlessRefunded = reportsRefund ? 'paid' : transaction_status;
  return {
    outcome: 'found',
    payment: {
      status: isRefunded(refunds, gross_amount) ? 'refunded' : unlessRefunded,
      providerTransactionId: transaction_id,
      totalRupiah: gross_amount,
      paidAt: settlement_time,
      qrisPayload: findQrisFault(qr_string, { totalRupiah: gross_amount, ...shop }) === null ? qr_string : null,
      refunds,
    },
  };
}

/**
 * Why an order is not ours; null if it is. A status may have Midtrans' id in both fields: it is ours if that is the id
 * that Midtrans issued for our reference, over the same amount.
 */
function foreignOrder(
  { referenceId, issued }: OrderKey,
  { order_id, transaction_id, gross_amount }: NamedOrder,
): string | null {
  if (order_id === referenceId) return null;
  if (issued === null || order_id !== issued.transactionId) return differs('order_id', order_id, referenceId);
  if (transaction_id !== issued.transactionId) return differs('transaction_id', transaction_id, issued.transactionId);
  return gross_amount === issued.totalRupiah ? null : differs('gross_amount', gross_amount, issued.totalRupiah);
}

interface NamedOrder {
  readonly order_id: string;
  readonly transaction_id: string | null;
  readonly gross_amount: number | null;
}

/** Midtrans reports `refund` when it accepts the request; only the bank's confirmation makes it final. */
function isRefunded(refunds: ProviderPayment['refunds'], totalRupiah: number): boolean {
  const confirmed = refunds.filter((refund) => refund.confirmedAt !== null);
  return totalRupiah > 0 && confirmed.reduce((sum, refund) => sum + refund.totalRupiah, 0) >= totalRupiah;
}

/** The responses of Midtrans when it has closed an order; 407 is a *successful* expiry. */
const CLOSED = {
  expire: { codes: ['407', '200'], status: 'expired' },
  cancel: { codes: ['200'], status: 'cancelled' },
} as const satisfies Record<string, { codes: readonly string[]; status: ProviderPaymentStatus }>;

/** Accepted only if the response names the order and its final status: the code alone proves nothing. */
async function closePayment(
  client: MidtransClient,
  { order, operation }: { order: OrderKey; operation: keyof typeof CLOSED },
  call: ProviderCall,
): Promise<ClosePaymentOutcome> {
  const response = await client.call({ method: 'POST', path: pathOf(order.referenceId, operation) }, call);
  if (response.outcome === 'indeterminate') return response;
  if (CLOSE_REJECTIONS.has(response.statusCode)) return rejected(response);
  const { codes, status }: { codes: readonly string[]; status: string } = CLOSED[operation];
  if (!codes.includes(response.statusCode)) return undecided(response);
  const closed = readFields(closeResponseSchema, response.body);
  if (!closed.ok) return indeterminate(`the ${operation} is not confirmed: ${closed.reason}`);
  const foreign = foreignOrder(order, closed.fields);
  if (foreign !== null) return indeterminate(`the ${operation} is not confirmed: ${foreign}`);
  const { transaction_status } = closed.fields;
  return transaction_status === status
    ? { outcome: 'accepted' }
    : indeterminate(`the ${operation} is not confirmed: ${differs('transaction_status', transaction_status, status)}`);
}

/** 406 means that this refund key was used before: indeterminate, a status query lists the refund. */
async function refundPayment(
  client: MidtransClient,
  { referenceId, refundKey, totalRupiah, reason }: RefundRequest,
  call: ProviderCall,
): Promise<RefundOutcome> {
  const body = { refund_key: refundKey, amount: totalRupiah, reason };
  const response = await client.call({ method: 'POST', path: pathOf(referenceId, 'refund'), body }, call);
  if (response.outcome === 'indeterminate') return response;
  if (REFUND_REJECTIONS.has(response.statusCode)) return rejected(response);
  return response.statusCode === '200' || response.statusCode === '201' ? { outcome: 'accepted' } : undecided(response);
}

/** The code is none that decides the outcome. */
function undecided({ status }: MidtransResponse): Indeterminate {
  return indeterminate(`status_code decides nothing: ${status}`);
}

function pathOf(referenceId: string, operation: string): string {
  return `/v2/${encodeURIComponent(referenceId)}/${operation}`;
}

/** 43 characters: Midtrans ignores a key of more than 46. The same call has the same key in every attempt. */
function idempotencyKey(operation: string, referenceId: string): string {
  return createHash('sha256').update(`${operation}:${referenceId}`).digest('base64url');
}

function rejected(response: MidtransResponse): Rejected {
  return {
    outcome: 'rejected',
    reason: response.status,
    ...(ACCOUNT_ERRORS.has(response.statusCode) && { merchantReason: ACCOUNT_ERROR_FOR_MERCHANTS }),
  };
}
