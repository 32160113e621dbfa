import { findFirstAnswer, type FirstAnswer } from '../../db/reads/find-first-answer';
import { ApiError } from '../api-error';
import type { Merchant } from '../auth/authenticate';
import type { Answer, MerchantEndpoint } from '../endpoint';
import { createdPaymentView } from '../payment-views';
import type { ApiServices } from '../services';
import { readJsonBody } from '../strict-json';
import { createBulk } from './create-bulk';
import { refusalOf, REPLAYED, requireSamePayment } from './first-answer';
import { parseIdempotencyKey } from './idempotency-key';
import { parseRequest, paymentRequestSchema, requireObject } from './payment-request';
import { captureTerms, findOffer, wantPayment, type WantedPayment } from './payment-terms';

const SINGLE_BODY_BYTES = 64 * 1_024;

/** `POST /payments`: the same key and the same payment get the same answer, however often and at the same time. */
export const createPayment: MerchantEndpoint = async (services, request, merchant) => {
  const body = requireObject(readJsonBody(request));
  const idempotencyKey = parseIdempotencyKey(request.get('idempotency-key'));
  if (body.payments !== undefined) return createBulk(services, merchant, body, idempotencyKey);
  if (request.body.length > SINGLE_BODY_BYTES) throw new ApiError('invalid_json', 'The body is larger than 64 kB.');

  const wanted = wantPayment(merchant, parseRequest(paymentRequestSchema, body), idempotencyKey);
  return createSingle(services, merchant, wanted);
};

async function createSingle(services: ApiServices, merchant: Merchant, wanted: WantedPayment): Promise<Answer> {
  const { paymentId, idempotencyKey } = wanted.identity;
  const earlier = idempotencyKey === null ? undefined : await findFirstAnswer(services.db, paymentId);
  if (earlier) requireSamePayment(earlier, wanted);
  if (earlier?.answered) return answer(services, earlier, REPLAYED);

  const offer = await findOffer(services, merchant, wanted.request);
  await services.creations.create(captureTerms(services, merchant, wanted, offer));
  const created = await findFirstAnswer(services.db, paymentId);
  if (!created?.answered) throw new Error(`Payment ${paymentId} was created, and has no answer`);
  requireSamePayment(created, wanted);
  return answer(services, created);
}

function answer({ qrisLinks }: ApiServices, created: FirstAnswer, headers: Answer['headers'] = {}): Answer {
  if (created.answered?.status !== 'failed') {
    return { status: 201, headers, body: { payment: createdPaymentView(created, qrisLinks) } };
  }
  const refusal = refusalOf(created);
  return { status: refusal.httpStatus, headers, body: refusal.body };
}
