import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { renderQrisPng } from '../qris/picture';
import { ACQUIRER_NAMES } from './acquirers';
import { chargeAnswer, refundAnswer, refusal, stateAnswer, statusAnswer, type MidtransAnswer } from './answers';
import { SLOW_MS, type Faults, type FaultKind, type Operation } from './faults';
import type { Ledger } from './ledger';
import { parseOrderTime } from './midtrans-time';
import { SANDBOX_SERVER_KEY } from './server-key';

/** Rp10,000,000: the limit of a QRIS payment. */
const MAX_GROSS_AMOUNT = 10_000_000;
const MAX_IDEMPOTENCY_KEY_LENGTH = 46;
const DEFAULT_EXPIRY_MS = 15 * 60 * 1000;
const UNIT_MS = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

const chargeSchema = z.object({
  payment_type: z.literal('qris'),
  transaction_details: z.object({
    order_id: z.string().regex(/^[A-Za-z0-9._~-]{1,50}$/, { error: 'must be 1 to 50 of A-Z a-z 0-9 . _ ~ -' }),
    gross_amount: z.int().min(1).max(MAX_GROSS_AMOUNT),
  }),
  qris: z.object({ acquirer: z.enum(ACQUIRER_NAMES).default('gopay') }).default({ acquirer: 'gopay' }),
  custom_expiry: z
    .object({
      order_time: z
        .string()
        .transform(parseOrderTime)
        .refine((time) => time !== undefined, { error: 'must be like 2020-09-29 11:46:13 +0700' })
        .optional(),
      expiry_duration: z.coerce.number().int().min(1),
      unit: z.enum(['second', 'minute', 'hour', 'day']).default('minute'),
    })
    .optional(),
});

const refundSchema = z.object({
  refund_key: z.string().min(1).max(255).optional(),
  amount: z.int().min(1).optional(),
  reason: z.string().max(255).default(''),
});

const NOT_FOUND = "Transaction doesn't exist.";
const CANNOT_MODIFY = 'Merchant cannot modify the status of the transaction';

/** The part of Midtrans' Core API that QRIS needs, with its answers and its ways to fail. */
export function midtransApi(ledger: Ledger, faults: Faults, wakeNotifier: () => void): Router {
  const router = Router();

  // Midtrans' pictures are open: shops embed them in their pages.
  for (const version of ['v2', 'v4']) {
    router.get(`/${version}/qris/:transactionId/qr-code`, (request, response) =>
      sendPicture(request.params.transactionId, response),
    );
  }

  router.use('/v2', checkServerKey);

  router.post('/v2/charge', (request, response) =>
    serve(
      'charge',
      response,
      async (): Promise<MidtransAnswer> => {
        const parsed = chargeSchema.safeParse(request.body);
        if (!parsed.success) return invalid(parsed.error);
        const { transaction_details, qris, custom_expiry } = parsed.data;
        const orderTime = custom_expiry?.order_time ?? new Date();
        const lifeMs = custom_expiry ? custom_expiry.expiry_duration * UNIT_MS[custom_expiry.unit] : DEFAULT_EXPIRY_MS;
        const { outcome, payment } = await ledger.charge({
          orderId: transaction_details.order_id,
          grossAmountRupiah: transaction_details.gross_amount,
          acquirer: qris.acquirer,
          expiresAt: new Date(orderTime.getTime() + lifeMs),
          notificationUrl: notificationUrlOf(request),
          idempotencyKey: idempotencyKeyOf(request),
        });
        // Midtrans lets the id of an expired order be used again; one order one charge makes the better oracle.
        return outcome === 'duplicate'
          ? refusal(
              '406',
              'The request could not be completed due to a conflict with the current state of the target resource, please try again',
            )
          : chargeAnswer(payment, `${request.protocol}://${request.host}`);
      },
      says('402', 'Payment channel is not activated.'),
    ),
  );

  router.get('/v2/:id/status', (request, response) =>
    serve(
      'status',
      response,
      async () => {
        const found = await ledger.find(request.params.id);
        return found ? statusAnswer(found) : refusal('404', NOT_FOUND);
      },
      says('429', 'API rate limit exceeded'),
    ),
  );

  router.post('/v2/:id/expire', (request, response) =>
    serve(
      'expire',
      response,
      async () => {
        const answer = await ledger.expire(request.params.id);
        if (!answer) return refusal('404', NOT_FOUND);
        return answer.changed
          ? stateAnswer(answer.found, 'Success, transaction has expired')
          : refusal('412', CANNOT_MODIFY);
      },
      says('412', CANNOT_MODIFY),
    ),
  );

  router.post('/v2/:id/cancel', (request, response) =>
    serve(
      'cancel',
      response,
      async () => {
        const answer = await ledger.cancel(request.params.id);
        if (!answer) return refusal('404', NOT_FOUND);
        return answer.changed
          ? stateAnswer(answer.found, 'Success, transaction is canceled')
          : refusal('412', CANNOT_MODIFY);
      },
      says('412', CANNOT_MODIFY),
    ),
  );

  router.post('/v2/:id/refund', (request, response) => {
    const refund = async (turnDown: boolean): Promise<MidtransAnswer> => {
      const parsed = refundSchema.safeParse(request.body);
      if (!parsed.success) return invalid(parsed.error);
      const { refund_key: refundKey = randomUUID(), amount = null, reason } = parsed.data;
      const answer = await ledger.refund(request.params.id, { refundKey, amountRupiah: amount, reason, turnDown });
      if (!answer) return refusal('404', NOT_FOUND);
      if (answer.outcome === 'not_refundable') return refusal('412', CANNOT_MODIFY);
      if (answer.outcome === 'amount_too_high')
        return refusal('414', 'Refund request is rejected due to invalid amount');
      return refundAnswer(answer.found, answer.refund);
    };
    return serve(
      'refund',
      response,
      () => refund(false),
      () => refund(true),
    );
  });

  async function sendPicture(transactionId: string, response: Response): Promise<void> {
    const found = await ledger.find(transactionId);
    if (!found) return send(response, refusal('404', NOT_FOUND));
    const picture = await renderQrisPng(found.payment.qrString);
    response.type('png').set('cache-control', 'public, max-age=31536000, immutable').send(picture);
  }

  /** Answers with what `work` does, or fails as the armed fault says; `reject` is how the acquirer says no here. */
  async function serve(operation: Operation, response: Response, work: Work, reject: Work): Promise<void> {
    const fault = faults.take(operation);
    await answerWith(fault, response, fault === 'reject' ? reject : work);
    wakeNotifier();
  }

  return router;
}

type Work = () => Promise<MidtransAnswer>;

function says(statusCode: string, message: string): Work {
  return () => Promise.resolve(refusal(statusCode, message));
}

async function answerWith(fault: FaultKind | undefined, response: Response, work: Work): Promise<void> {
  switch (fault) {
    case 'timeout':
      return; // The connection stays open, and silent, until the caller or the server closes it.
    case 'reset':
      return reset(response);
    case 'http_500':
      return send(response, refusal('500', 'Sorry, we encountered internal server error. We will fix this soon.'));
    case 'accept_then_timeout':
      await work();
      return;
    case 'accept_then_reset':
      await work();
      return reset(response);
    case 'half_body': {
      const text = JSON.stringify(await work());
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.write(text.slice(0, text.length / 2), () => reset(response));
      return;
    }
    case 'slow': {
      const answer = await work();
      await sleep(SLOW_MS);
      return send(response, answer);
    }
    case 'reject':
    case 'bad_signature':
    case 'silent':
    case undefined:
      return send(response, await work());
  }
}

function reset(response: Response): void {
  response.socket?.resetAndDestroy();
}

/** Midtrans answers HTTP 200 whatever the code in the body says, but for these. */
const HTTP_STATUSES: ReadonlyMap<string, number> = new Map(
  [400, 401, 413, 429, 500].map((status) => [String(status), status]),
);

export function send(response: Response, answer: MidtransAnswer): void {
  response.status(HTTP_STATUSES.get(answer.status_code) ?? 200).json(answer);
}

function invalid(error: z.ZodError): MidtransAnswer {
  return {
    ...refusal('400', 'One or more parameters in the payload is invalid.'),
    validation_messages: error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
  };
}

function checkServerKey(request: Request, response: Response, next: NextFunction): void {
  const expected = `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}`;
  if (sameText(request.get('authorization') ?? '', expected)) next();
  else send(response, refusal('401', 'Unknown Merchant server_key/id'));
}

function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Midtrans takes up to three addresses in this header; one is all that a Lunas account sends. */
function notificationUrlOf(request: Request): string | null {
  const url = request.get('x-override-notification')?.trim() ?? '';
  return /^https?:\/\//.test(url) && URL.canParse(url) ? url : null;
}

/** A key that is too long is ignored, without a word. */
function idempotencyKeyOf(request: Request): string | null {
  const key = request.get('idempotency-key') ?? '';
  return key !== '' && key.length <= MAX_IDEMPOTENCY_KEY_LENGTH ? key : null;
}
