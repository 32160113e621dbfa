import type { z } from 'zod';
import { eventOnEntering, INVOICE_EVENTS, LATE_PAYMENT_EVENTS, PAYOUT_EVENTS } from '../../domain/events';
import { PAYMENT_STATUSES } from '../../domain/payment-transitions';
import { STATUS_MEANINGS } from '../../domain/status-meanings';
import { VERSION } from '../../package-info';
import type { MerchantEndpoint } from '../endpoint';
import { paymentStatusSchema } from '../payments/payment-fields';
import { describeParameters, describePaths, jsonContent, refTo } from './describe-operations';
import { INTRODUCTION } from './introduction';
import { toJsonSchemas } from './json-schema';
import { describeHeaders } from './response-headers';
import {
  INVOICE_EVENT,
  invoiceEventSchema,
  LATE_PAYMENT_EVENT,
  latePaymentEventSchema,
  PAYOUT_EVENT,
  payoutEventSchema,
  WEBHOOK_EVENT,
  WEBHOOK_HEADERS,
  webhookEventSchema,
} from './webhook-event';

/** The OpenAPI 3.1 document for merchants, derived from the endpoints and the tables that the API itself uses. */
export function buildDocument(endpoints: readonly MerchantEndpoint[]) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lunas: QRIS payments',
      version: VERSION,
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document' }],
    security: [{ secretKey: [] }],
    tags: [
      { name: 'Transactions', description: 'QRIS payments: create, show, list, cancel, refund.' },
      { name: 'Payment links', description: 'Pages that make transactions: make, show, list, close.' },
    ],
    paths: describePaths(endpoints),
    webhooks: describeWebhooks(),
    components: {
      schemas: {
        ...toJsonSchemas(requestSchemas(endpoints), 'input'),
        ...toJsonSchemas(responseSchemas(endpoints), 'output'),
      },
      headers: describeHeaders(),
      securitySchemes: {
        secretKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A secret key (`sk_test_…` or `sk_live_…`). For servers only, never for a browser or an app.',
        },
      },
    },
  };
}

function requestSchemas(endpoints: readonly MerchantEndpoint[]): Record<string, z.ZodType> {
  return Object.assign({}, ...endpoints.map(({ requestBody }) => requestBody?.schemas));
}

function responseSchemas(endpoints: readonly MerchantEndpoint[]): Record<string, z.ZodType> {
  const responses = endpoints.map(({ response }) => response);
  return Object.assign(
    { PaymentStatus: paymentStatusSchema },
    ...responses.map(({ components }) => components),
    {
      WebhookEvent: webhookEventSchema,
      LatePaymentEvent: latePaymentEventSchema,
      PayoutEvent: payoutEventSchema,
      InvoiceEvent: invoiceEventSchema,
    },
    ...responses.map(({ name, schema }) => ({ [name]: schema })),
  );
}

function describeWebhooks() {
  const ofPayments = PAYMENT_STATUSES.map((status) => {
    const event = eventOnEntering(status);
    return describeWebhook({
      event,
      operationId: `on_${status}`,
      summary: STATUS_MEANINGS[status],
      description: `Sent to the webhook addresses that you have registered, when a transaction becomes \`${status}\`.`,
      schema: 'WebhookEvent',
      example: { ...WEBHOOK_EVENT, event, status },
    });
  });
  const ofLatePayments = LATE_PAYMENT_EVENTS.map((event) => {
    const status = event.slice('late_payment.'.length);
    const summary = `Money that came after the end of a transaction was ${status}.`;
    return describeListed({ event, summary, schema: 'LatePaymentEvent' }, { ...LATE_PAYMENT_EVENT, event, status });
  });
  const ofPayouts = PAYOUT_EVENTS.map((event) => {
    const status = event.slice('payout.'.length);
    const summary = `A payout is ${status}.`;
    return describeListed({ event, summary, schema: 'PayoutEvent' }, { ...PAYOUT_EVENT, event, status });
  });
  const ofInvoices = INVOICE_EVENTS.map((event) => {
    const summary = 'An invoice of fees or a credit note is issued.';
    return describeListed({ event, summary, schema: 'InvoiceEvent' }, { ...INVOICE_EVENT, event });
  });
  return Object.fromEntries([...ofPayments, ...ofLatePayments, ...ofPayouts, ...ofInvoices]);
}

/** An event that is sent only to endpoints that list it. */
function describeListed(webhook: Pick<Webhook, 'event' | 'summary' | 'schema'>, example: object) {
  return describeWebhook({
    ...webhook,
    operationId: `on_${webhook.event.replace('.', '_')}`,
    description: `Sent to the webhook addresses that list \`${webhook.event}\`.`,
    example,
  });
}

interface Webhook {
  readonly event: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The name of its body's schema. */
  readonly schema: string;
  readonly example: object;
}

function describeWebhook({ event, schema, example, ...texts }: Webhook) {
  const post = {
    ...texts,
    security: [],
    parameters: describeParameters('header', WEBHOOK_HEADERS),
    requestBody: { required: true, content: jsonContent(refTo(schema), { [event]: example }) },
    responses: {
      '2XX': { description: 'Delivered. Any other response, or none after 10 s, is a failure and is retried.' },
      '410': { description: 'Disables the endpoint: no more webhooks are sent to this address.' },
    },
  };
  return [event, { post }] as const;
}
