import { findOriginalResponse, type OriginalResponse } from '../../../db/queries/find-original-response';
import { ApiError } from '../../api-error';
import type { AuthenticatedMerchant } from '../../auth/authenticate';
import type { EndpointResponse, MerchantEndpoint } from '../../endpoint';
import { createdPaymentView } from '../payment-responses';
import type { ApiDependencies } from '../../dependencies';
import { readJsonBody } from '../../strict-json';
import { createBulk } from './create-bulk';
import { toApiError, REPLAYED_HEADER, assertSameRequest } from './original-response';
import { parseIdempotencyKey } from './idempotency-key';
import { parseRequest, paymentRequestSchema, requireObject } from './payment-request';
import { captureTerms, resolvePolicy, draftPayment, type PaymentDraft } from './capture-terms';

const SINGLE_BODY_BYTES = 64 * 1_024;

/** `POST /payments`: the same key and the same payment get the same answer, however often and at the same time. */
export const createPayment: MerchantEndpoint = async (dependencies, request, merchant) => {
  const body = requireObject(readJsonBody(request));
  const idempotencyKey = parseIdempotencyKey(request.get('idempotency-key'));
  if (body.payments !== undefined) return createBulk(dependencies, merchant, body, idempotencyKey);
  if (request.body.length > SINGLE_BODY_BYTES) throw new ApiError('invalid_json', 'The body is larger than 64 kB.');

  const draft = draftPayment(merchant, parseRequest(paymentRequestSchema, body), idempotencyKey);
  return createSingle(dependencies, merchant, draft);
};

async function createSingle(
  dependencies: ApiDependencies,
  merchant: AuthenticatedMerchant,
  draft: PaymentDraft,
): Promise<EndpointResponse> {
  const { paymentId, idempotencyKey } = draft.identity;
  const earlier = idempotencyKey === null ? undefined : await findOriginalResponse(dependencies.db, paymentId);
  if (earlier) assertSameRequest(earlier, draft);
  if (earlier?.original) return toResponse(dependencies, earlier, REPLAYED_HEADER);

  const policy = await resolvePolicy(dependencies, merchant, draft.request);
  await dependencies.creations.create(captureTerms(dependencies, merchant, draft, policy));
  const created = await findOriginalResponse(dependencies.db, paymentId);
  if (!created?.original) throw new Error(`Payment ${paymentId} was created, and has no answer`);
  assertSameRequest(created, draft);
  return toResponse(dependencies, created);
}

function toResponse(
  { qrisLinks }: ApiDependencies,
  created: OriginalResponse,
  headers: EndpointResponse['headers'] = {},
): EndpointResponse {
  if (created.original?.status !== 'failed') {
    return { status: 201, headers, body: { payment: createdPaymentView(created, qrisLinks) } };
  }
  const apiError = toApiError(created);
  return { status: apiError.httpStatus, headers, body: apiError.body };
}
