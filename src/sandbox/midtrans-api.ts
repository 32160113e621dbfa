import { createHash, timingSafeEqual } from 'node:crypto';
import { Router, type NextFunction, type Request, type Response } from 'express';
import { renderQrisPng } from '../qris/picture';
import { refusal, type MidtransAnswer } from './answers';
import type { Faults, Operation } from './faults';
import type { Ledger } from './ledger';
import { cancel, cannotModify, charge, expire, notFound, refund, showStatus } from './midtrans-operations';
import { respond, send, type Work } from './respond';
import { SANDBOX_SERVER_KEY } from './server-key';

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
    serve('charge', response, () => charge(ledger, request), says(refusal('402', 'Payment channel is not activated.'))),
  );
  router.get('/v2/:id/status', ({ params }, response) =>
    serve('status', response, () => showStatus(ledger, params.id), says(refusal('429', 'API rate limit exceeded'))),
  );
  router.post('/v2/:id/expire', ({ params }, response) =>
    serve('expire', response, () => expire(ledger, params.id), says(cannotModify())),
  );
  router.post('/v2/:id/cancel', ({ params }, response) =>
    serve('cancel', response, () => cancel(ledger, params.id), says(cannotModify())),
  );
  router.post('/v2/:id/refund', ({ params, body }, response) => {
    const refundThis = (turnDown: boolean) => () => refund(ledger, params.id, body, turnDown);
    return serve('refund', response, refundThis(false), refundThis(true));
  });

  /** Answers with what `work` does, or fails as the armed fault says; `reject` is how the acquirer says no here. */
  async function serve(operation: Operation, response: Response, work: Work, reject: Work): Promise<void> {
    const fault = faults.take(operation);
    await respond(fault, response, fault === 'reject' ? reject : work);
    wakeNotifier();
  }

  async function sendPicture(transactionId: string, response: Response): Promise<void> {
    const found = await ledger.find(transactionId);
    if (!found) return send(response, notFound());
    const picture = await renderQrisPng(found.payment.qrString);
    response.type('png').set('cache-control', 'public, max-age=31536000, immutable').send(picture);
  }

  return router;
}

function says(answer: MidtransAnswer): Work {
  return () => Promise.resolve(answer);
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
