import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { renderQrisPng } from '../qris/image';
import type { AcquirerShop } from './acquirers';
import type { FaultKind, FaultOperation, Faults } from './faults';
import type { Ledger } from './ledger';
import { permanentFault } from './magic-amounts';
import { cannotModify, charge, close, duplicateOrder, notFound, refund, showStatus } from './midtrans-operations';
import { respond, send } from './respond';
import { CORE_API, errorResponse, unknownResource, type AcquirerResponse } from './responses';
import type { Shops } from './shops';

interface MidtransDependencies {
  readonly ledger: Ledger;
  readonly shops: Shops;
  readonly faults: Faults;
  readonly wakeNotifier: () => void;
}

/** The part of Midtrans' Core API that QRIS needs, with injected faults. */
export function midtransApi({ ledger, shops, faults, wakeNotifier }: MidtransDependencies): Router {
  const router = Router();
  const withShop = shopCalls(shops);

  // As at Midtrans, QR images need no key: shops embed them in their pages.
  for (const version of ['v2', 'v4']) {
    router.get(`/${version}/qris/:transactionId/qr-code`, (request, response) =>
      sendImage(request.params.transactionId, response),
    );
  }

  router.post(
    '/v2/charge',
    withShop((shop, request, response) =>
      serve('charge', response, {
        work: () => charge(ledger, shop, request),
        reject: () => errorResponse('402', 'Payment channel is not activated.'),
        fault: permanentFault('charge', totalOf(request.body)),
      }),
    ),
  );
  router.get(
    '/v2/:id/status',
    withShop<OfOrder>(async (shop, { params }, response) => {
      // Before the fault: calls with an injected fault are counted too.
      const found = await showStatus(ledger, shop, params.id);
      await serve('status', response, {
        work: () => found,
        reject: () => errorResponse('429', 'API rate limit exceeded'),
      });
    }),
  );
  for (const operation of ['expire', 'cancel'] as const) {
    router.post(
      `/v2/:id/${operation}`,
      withShop<OfOrder>((shop, { params }, response) =>
        serve(operation, response, { work: () => close(ledger, shop, operation, params.id), reject: cannotModify }),
      ),
    );
  }
  // Midtrans' clients also have a direct refund. It is the same in the sandbox.
  router.post(
    '/v2/:id/refund{/online/direct}',
    withShop<OfOrder>(async (shop, { params: { id }, body }, response) => {
      const fault = permanentFault('refund', (await ledger.find(id, shop.serverKey))?.order.grossAmountRupiah);
      const refundThis = (isRejected: boolean) => () => refund(ledger, shop, { id, body, isRejected });
      return serve('refund', response, { work: refundThis(false), reject: refundThis(true), fault });
    }),
  );
  router.use('/v2', withShop(sendUnknown));

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

function sendUnknown(_shop: AcquirerShop, _request: Request, response: Response): void {
  send(response, unknownResource(), CORE_API);
}

interface OfOrder {
  readonly id: string;
}

type ShopHandler<Params> = (shop: AcquirerShop, request: Request<Params>, response: Response) => void | Promise<void>;

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

/** A handler of calls with the server key of a shop; 401 without one. */
function shopCalls(shops: Shops) {
  return <Params = Request['params']>(handler: ShopHandler<Params>) =>
    async (request: Request<Params>, response: Response): Promise<void> => {
      const serverKey = serverKeyOf(request);
      const shop = serverKey === null ? null : await shops.find(serverKey);
      if (shop) await handler(shop, request, response);
      else send(response, errorResponse('401', 'Unknown Merchant server_key/id'), CORE_API);
    };
}

/** The server key of HTTP basic authentication, whose password is empty; null: there is none. */
function serverKeyOf(request: Request<unknown>): string | null {
  const [, encoded = ''] = /^Basic (.+)$/.exec(request.get('authorization') ?? '') ?? [];
  return /^(.+):$/.exec(Buffer.from(encoded, 'base64').toString())?.[1] ?? null;
}
