import { z } from 'zod';
import type { PublicAddresses } from '../../crypto/public-links';
import { actorText } from '../../domain/actor';
import { LINK_END_MS } from '../../domain/payment-link';
import { ApiError } from '../../http/api-error';
import { reportIgnored } from '../../http/ignored-input';
import { readJsonBody } from '../../http/strict-json';
import {
  createPaymentLink as create,
  type LinkDependencies,
  type LinkRejection,
} from '../../services/links/create-link';
import { merchantEndpoint } from '../endpoint';
import { parseIdempotencyKey, requireObject } from '../payments/create-payment/payment-request';
import { rejectionMessage, REPLAYED_HEADER } from '../payments/create-payment/rejection-error';
import { EXAMPLE_LINK, paymentLinkSchema, toLinkBody } from './link-fields';
import { ignoredLinkFields, linkRequestSchema, parseLinkRequest } from './link-request';

const CODE = 'invalid_parameter';

export const createPaymentLink = merchantEndpoint({
  method: 'post',
  path: '/payment-links',
  scope: 'create',
  readsBody: true,
  maxBytes: 16 * 1_024,
  operationId: 'createPaymentLink',
  summary: 'Create a payment link',
  description: `A link is a page that you send or print. Each customer who presses its button gets a transaction with
the terms of the link. A \`once\` link has at most one open transaction, the same for every visitor.

A repeat with the same idempotency key gets the link as it is now, with the header \`Idempotency-Replayed: true\`. The
same key with another link is \`invalid_parameter\`. A link cannot be changed: close it, and make another one.`,
  headers: {
    'Idempotency-Key': z.string().min(1).max(255).optional().meta({
      description: 'Identifies this request, in printable ASCII.',
    }),
  },
  requestBody: {
    schemas: { PaymentLinkRequest: linkRequestSchema },
    examples: {
      'an invoice': { kind: 'once', title: 'Invoice 1042', amount: 50_000, merchant_reference_id: 'ORDER-1042' },
      'a donation': { kind: 'reusable', title: 'Donation', minimum_amount: 10_000 },
    },
  },
  response: {
    status: 201,
    name: 'CreatePaymentLinkResponse',
    schema: z.object({ payment_link: paymentLinkSchema }),
    components: { PaymentLink: paymentLinkSchema },
    headers: ['Idempotency-Replayed'],
    examples: { 'a link': { payment_link: EXAMPLE_LINK } },
  },
  errors: ['invalid_json', 'invalid_parameter'],
  async handler(dependencies: LinkDependencies & Pick<PublicAddresses, 'linkAddresses'>, request, merchant) {
    const body = requireObject(readJsonBody(request));
    reportIgnored(request, 'fields', ignoredLinkFields(body));
    const idempotencyKey = parseIdempotencyKey(request.headersDistinct['idempotency-key'], CODE);
    const now = new Date();
    const by = actorText({ kind: 'api_key', id: merchant.keyId });
    const terms = parseLinkRequest(body);
    const created = await create(dependencies, merchant, { terms, idempotencyKey, by, now });
    if (created.outcome === 'rejected') throw rejectionError(created.rejection);
    return {
      status: 201,
      ...(created.isRepeat && { headers: REPLAYED_HEADER }),
      body: { payment_link: await toLinkBody(dependencies, created.link, now) },
    };
  },
});

function rejectionError(rejection: LinkRejection): ApiError {
  const { reason } = rejection;
  switch (reason) {
    case 'provider_not_enabled':
      return new ApiError(reason, `provider ${rejection.provider} is not enabled for you.`, { code: CODE });
    case 'return_url_not_allowed':
      return new ApiError(
        reason,
        `return_url must be at an address of your shop: register ${rejection.origin} first.`,
        { code: CODE },
      );
    case 'fee_reaches_amount':
    case 'total_too_large':
      return new ApiError(reason, rejectionMessage(rejection), { code: CODE });
    case 'idempotency_key_reused':
      return new ApiError(reason, 'This idempotency key belongs to another link. Use a new key.', { code: CODE });
    case 'amount_beside_bounds':
      return new ApiError(CODE, 'minimum_amount and maximum_amount must not be given beside amount.');
    case 'minimum_above_maximum':
      return new ApiError(CODE, 'minimum_amount must not be above maximum_amount.');
    case 'expires_at_out_of_range':
      return new ApiError(CODE, `expires_at must be ${LINK_END_MS.min / 60_000} minutes to 366 days ahead.`);
  }
}
