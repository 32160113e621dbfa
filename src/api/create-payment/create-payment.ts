import { findFirstAnswer, type FirstAnswer } from '../../db/reads/find-first-answer';
import { ApiError } from '../api-error';
import type { Answer, MerchantEndpoint } from '../endpoint';
import { createdPaymentView } from '../payment-views';
import type { ApiServices } from '../services';
import { readJsonBody } from '../strict-json';
import { parseIdempotencyKey } from './idempotency-key';
import { paymentIdentity } from './payment-identity';
import { fingerprintOf, parsePaymentRequest, type PaymentRequest } from './payment-request';
import { captureTerms } from './payment-terms';

/** `POST /payments`: the same key and the same payment get the same answer, however often and at the same time. */
export const createPayment: MerchantEndpoint = async (services, request, merchant) => {
  const wanted = parsePaymentRequest(readJsonBody(request));
  const idempotencyKey = parseIdempotencyKey(request.get('idempotency-key'));
  const identity = { ...paymentIdentity(merchant.merchantId, idempotencyKey), idempotencyKey };

  const earlier = idempotencyKey === null ? undefined : await findFirstAnswer(services.db, identity.paymentId);
  if (earlier) requireSamePayment(earlier, wanted);
  if (earlier?.answered) return answer(services, earlier, { 'Idempotency-Replayed': 'true' });

  await services.engine.createPayment(await captureTerms(services, merchant, wanted, identity));
  const created = await findFirstAnswer(services.db, identity.paymentId);
  if (!created?.answered) throw new Error(`Payment ${identity.paymentId} was created, and has no answer`);
  requireSamePayment(created, wanted);
  return answer(services, created);
};

function requireSamePayment({ payment }: FirstAnswer, wanted: PaymentRequest): void {
  if (payment.fingerprint === fingerprintOf(wanted)) return;
  throw new ApiError('payment_create_failed', 'This idempotency key belongs to a payment with other contents.');
}

function answer({ qrisLinks }: ApiServices, created: FirstAnswer, headers: Answer['headers'] = {}): Answer {
  if (created.answered?.status === 'failed') {
    const reason = created.payment.failureReason ?? 'no reason given';
    const refusal = new ApiError('payment_create_failed', `The transaction could not be created: ${reason}.`);
    return { status: refusal.httpStatus, headers, body: refusal.body };
  }
  return { status: 201, headers, body: { payment: createdPaymentView(created, qrisLinks) } };
}
