import { Router, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { renderQrisPng } from '../qris/image';
import { SANDBOX_SERVER_KEY } from './acquirers';
import type { FaultKind, FaultOperation, Faults } from './faults';
import type { Ledger } from './ledger';
import { permanentFault } from './magic-amounts';
import { cannotModify, charge, close, duplicateOrder, notFound, refund, showStatus } from './midtrans-operations';
import { respond, send } from './respond';
import { CORE_API, errorResponse, type AcquirerResponse } from './responses';

/** The part of Midtrans' Core API that QRIS needs, with injected faults. */
export function midtransApi(ledger: Ledger, faults: Faults, wakeNotifier: () => void): Router {
  const router = Router();

  // As at Midtrans, QR images need no key: shops embed them in their pages.
  for (const version of ['v2', 'v4']) {
    router.get(`/${version}/qris/:transactionId/qr-code`, (request, response) =>
      sendImage(request.params.transactionId, response),
    );
  }

  router.use('/v2', checkServerKey);
  router.post('/v2/charge', (request, response) =>
    serve('charge', response, {
      work: () => charge(ledger, request),
      reject: () => errorResponse('402', 'Payment channel is not activated.'),
      fault: permanentFault('charge', totalOf(request.body)),
    }),
  );
  router.get('/v2/:id/status', async ({ params }, response) => {
    // Before the fault: calls with an injected fault are counted too.
    const found = await showStatus(ledger, params.id);
    await serve('status', response, {
      work: () => found,
      reject: () => errorResponse('429', 'API rate limit exceeded'),
    });
  });
  for (const operation of ['expire', 'cancel'] as const) {
    router.post(`/v2/:id/${operation}`, ({ params }, response) =>
      serve(operation, response, { work: () => close(ledger, operation, params.id), reject: cannotModify }),
    );
  }
  // Midtrans' clients also have a direct refund. It is the same in the sandbox.
  router.post('/v2/:id/refund{/online/direct}', async ({ params, body }, response) => {
    const fault = permanentFault('refund', (await ledger.find(params.id))?.order.grossAmountRupiah);
    const refundThis = (isRejected: boolean) => () => refund(ledger, params.id, body, isRejected);
    return serve('refund', response, { work: refundThis(false), reject: refundThis(true), fault });
  });

  /** Responds with the result of `work`, or with the armed fault, or with the order's permanent fault. */
  async function serve(operation: FaultOperation, response: Response, { work, reject, fault }: Service): Promise<void> {
    const kind = faults.take(operation) ?? fault;
    const result = kind === 'forgotten_key' ? duplicateOrder : kind === 'reject' ? reject : work;
    await respond(kind, response, result, CORE_API);
    wakeNotifier();
  }

  async function sendImage(transactionId: string, response: Response): Promise<void> {
    const found = await ledger.find(transactionId);
    if (!found) return send(response, notFound(), CORE_API);
    const image = await renderQrisPng(found.order.qrString);
    response.type('png').set('cache-control', 'public, max-age=31536000, immutable').send(image);
  }

  return router;
}

type Work = () => AcquirerResponse | Promise<AcquirerResponse>;

interface Service {
  readonly work: Work;
  /** The acquirer's rejection. */
  readonly reject: Work;
  /** The order's permanent fault. */
  readonly fault?: FaultKind | undefined;
}

const chargedTotal = z.object({ transaction_details: z.object({ gross_amount: z.number() }) });

/** The total of a charge, before its validation. */
function totalOf(body: unknown): number | undefined {
  return chargedTotal.safeParse(body).data?.transaction_details.gross_amount;
}

function checkServerKey(request: Request, response: Response, next: NextFunction): void {
  const expected = `Basic ${Buffer.from(`${SANDBOX_SERVER_KEY}:`).toString('base64')}`;
  if (request.get('authorization') === expected) next();
  else send(response, errorResponse('401', 'Unknown Merchant server_key/id'), CORE_API);
}
