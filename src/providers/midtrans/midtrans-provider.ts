import { createHash } from 'node:crypto';
import type { ProviderName } from '../../domain/provider-capabilities';
import type {
  EndPaymentOutcome,
  FindPaymentOutcome,
  IssueQrisOutcome,
  IssueQrisRequest,
  Provider,
  ProviderCall,
  ProviderPayment,
  RefundOutcome,
  RefundRequest,
  Refused,
} from '../provider';
import { faultOfQris } from '../qris-fault';
import { chargeAnswerSchema, endAnswerSchema, statusAnswerSchema } from './messages';
import { MidtransClient, unclear, type MidtransAnswer } from './midtrans-client';
import { formatOrderTime } from './midtrans-time';
import { verifyNotification } from './notification';

export interface MidtransOptions {
  /** `https://api.midtrans.com`, its sandbox, or ours. */
  readonly baseUrl: string;
  readonly serverKey: string;
  /** Where Midtrans is to send the notifications of our orders. */
  readonly notificationUrl: string;
}

/** Our providers are Midtrans' acquirers behind `payment_type: qris`. */
const ACQUIRERS = { gopay: 'gopay', shopeepay: 'airpay shopee' } as const satisfies Record<ProviderName, string>;

/** What Midtrans says before anything was opened, so that nothing was. 406, 429 and 5xx are not among them: those are unclear. */
const CHARGE_REFUSALS = new Set(['202', '400', '401', '402', '403', '404', '405', '410', '411', '413']);
const REFUND_REFUSALS = new Set(['202', '400', '401', '402', '403', '404', '405', '410', '411', '412', '413', '414']);
const END_REFUSALS = new Set(['404', '412']);
/** Not the payment is at fault but our account, which merchants never hear of. */
const WRONG_SERVER_KEY = '401';

/**
 * QRIS over Midtrans' Core API (docs.midtrans.com: "QRIS", "Get Transaction Status", "Expire", "Cancel", "Refund", "HTTP
 * notification"). Close it to give its connections back.
 */
export function createMidtransProvider(options: MidtransOptions): Provider & { close(): Promise<void> } {
  const client = new MidtransClient(options);
  return {
    issueQris: (request, call) => issueQris(client, options.notificationUrl, request, call),
    findPayment: (referenceId, call) => findPayment(client, referenceId, call),
    expirePayment: (referenceId, call) => endPayment(client, { referenceId, operation: 'expire' }, call),
    cancelPayment: (referenceId, call) => endPayment(client, { referenceId, operation: 'cancel' }, call),
    refundPayment: (request, call) => refundPayment(client, request, call),
    verifyNotification: (notification) => verifyNotification(notification, options.serverKey),
    close: () => client.close(),
  };
}

/**
 * Opens an order. 406 says that the order is there already: unclear, the caller looks it up.
 *
 * The documentation does not promise `qr_string`. An order without one, or with one that no wallet reads, is useless to the
 * customer but open all the same, so it is unclear too: the caller finds it pending without a payload and asks again, the
 * idempotency key brings the first answer back, and in the end the order is given up and expired. The action URL is no way
 * out: it gives a picture, and merchants are promised the payload.
 */
async function issueQris(
  client: MidtransClient,
  notificationUrl: string,
  request: IssueQrisRequest,
  call: ProviderCall,
): Promise<IssueQrisOutcome> {
  const answer = await client.call(
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
  if (answer.outcome === 'unclear') return answer;
  if (CHARGE_REFUSALS.has(answer.statusCode)) return refused(answer);
  if (answer.statusCode !== '201' && answer.statusCode !== '200') return unclear(answer.said);

  const charge = chargeAnswerSchema.safeParse(answer.body);
  if (!charge.success) return unclear(`the order may be open, its answer cannot be read: ${answer.said}`);
  const { order_id, gross_amount, transaction_id, qr_string } = charge.data;
  if (order_id !== request.referenceId || gross_amount !== request.totalRupiah) {
    return unclear(`the answer is of another order: ${order_id} over ${gross_amount}`);
  }
  if (qr_string === undefined) return unclear('the order is open, but its answer has no QR');
  const fault = faultOfQris(qr_string, gross_amount);
  if (fault !== null) return unclear(`the order is open, but ${fault}`);
  return { outcome: 'accepted', providerTransactionId: transaction_id, qrisPayload: qr_string };
}

/** Whole seconds, rounded so that the acquirer never takes money after our own deadline. */
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
  referenceId: string,
  call: ProviderCall,
): Promise<FindPaymentOutcome> {
  const answer = await client.call({ method: 'GET', path: pathOf(referenceId, 'status') }, call);
  if (answer.outcome === 'unclear') return answer;
  if (answer.statusCode === '404') return { outcome: 'not_found' };
  // The code repeats the state (201 pending, 407 expired …): the state itself is what counts.
  const status = statusAnswerSchema.safeParse(answer.body);
  if (!status.success || status.data.order_id !== referenceId) return unclear(answer.said);
  const { transaction_status, transaction_id, gross_amount, settlement_time, qr_string } = status.data;
  const refunds = status.data.refunds.map((refund) => ({
    refundKey: refund.refund_key,
    providerReference: refund.refund_chargeback_id,
    totalRupiah: refund.refund_amount,
    confirmedAt: refund.bank_confirmed_at ?? null,
  }));
  const reportsRefund = transaction_status === 'refunded';
  if (reportsRefund && refunds.length === 0) return unclear('it reports a refund, and lists none');
  const unlessRefunded = reportsRefund ? 'paid' : transaction_status;
  return {
    outcome: 'found',
    payment: {
      status: isRefunded(refunds, gross_amount) ? 'refunded' : unlessRefunded,
      providerTransactionId: transaction_id,
      totalRupiah: gross_amount,
      paidAt: settlement_time ?? null,
      qrisPayload: qr_string !== undefined && faultOfQris(qr_string, gross_amount) === null ? qr_string : null,
      refunds,
    },
  };
}

/** Midtrans says `refund` as soon as it takes the request; only the bank's confirmation makes it so. */
function isRefunded(refunds: ProviderPayment['refunds'], totalRupiah: number): boolean {
  const confirmed = refunds.filter((refund) => refund.confirmedAt !== null);
  return totalRupiah > 0 && confirmed.reduce((sum, refund) => sum + refund.totalRupiah, 0) >= totalRupiah;
}

/** What Midtrans answers when it has ended an order; 407 is how it spells a *successful* expiry. */
const ENDED = {
  expire: { codes: ['407', '200'], status: 'expire' },
  cancel: { codes: ['200'], status: 'cancel' },
} as const satisfies Record<string, { codes: readonly string[]; status: string }>;

/** Accepted only if the answer names the order and its end: the code alone could be about anything. */
async function endPayment(
  client: MidtransClient,
  { referenceId, operation }: { referenceId: string; operation: keyof typeof ENDED },
  call: ProviderCall,
): Promise<EndPaymentOutcome> {
  const answer = await client.call({ method: 'POST', path: pathOf(referenceId, operation) }, call);
  if (answer.outcome === 'unclear') return answer;
  if (END_REFUSALS.has(answer.statusCode)) return refused(answer);
  const codes: readonly string[] = ENDED[operation].codes;
  if (!codes.includes(answer.statusCode)) return unclear(answer.said);
  const ended = endAnswerSchema.safeParse(answer.body);
  const isConfirmed = ended.data?.order_id === referenceId && ended.data.transaction_status === ENDED[operation].status;
  return isConfirmed
    ? { outcome: 'accepted' }
    : unclear(`the answer does not confirm the ${operation}: ${answer.said}`);
}

/** 406 says that this refund key was used before: unclear, the status lists what became of it. */
async function refundPayment(
  client: MidtransClient,
  { referenceId, refundKey, totalRupiah, reason }: RefundRequest,
  call: ProviderCall,
): Promise<RefundOutcome> {
  const body = { refund_key: refundKey, amount: totalRupiah, reason };
  const answer = await client.call({ method: 'POST', path: pathOf(referenceId, 'refund'), body }, call);
  if (answer.outcome === 'unclear') return answer;
  if (REFUND_REFUSALS.has(answer.statusCode)) return refused(answer);
  return answer.statusCode === '200' || answer.statusCode === '201' ? { outcome: 'accepted' } : unclear(answer.said);
}

function pathOf(referenceId: string, operation: string): string {
  return `/v2/${encodeURIComponent(referenceId)}/${operation}`;
}

/** 43 characters: Midtrans silently ignores a key of more than 46. The same call has the same key in every attempt. */
function idempotencyKey(operation: string, referenceId: string): string {
  return createHash('sha256').update(`${operation}:${referenceId}`).digest('base64url');
}

function refused(answer: MidtransAnswer): Refused {
  const isOurFault = answer.statusCode === WRONG_SERVER_KEY;
  return { outcome: 'refused', reason: isOurFault ? `${WRONG_SERVER_KEY} our account was not accepted` : answer.said };
}
