import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { done, isForm, onlyLoopback, parseBody, sendError } from './control-responses';
import { FAULT_KINDS, FAULT_OPERATIONS, isPossible, type Faults } from './faults';
import type { Ledger } from './ledger';
import type { OrderWithRefunds } from './ledger-records';
import { formatMidtransTime } from './midtrans-time';
import { formatAmount } from './responses';
import { scan } from './scan';

const MAX_TIMES = 10_000;
const NO_PENDING_ORDER = 'The QRIS is valid, but it is not of a pending order of this sandbox.';

const paySchema = z
  .object({
    notify: z.union([z.boolean(), z.stringbool()]).default(true),
    times: z.coerce.number().int().min(1).max(MAX_TIMES).default(1),
  })
  .default({ notify: true, times: 1 });

const scanSchema = z.object({ qris_payload: z.string() });

const bankSchema = z.object({ refund_confirms_after_seconds: z.number().min(0) });
/** The form of the page sends a text. */
const bankFormSchema = z.object({
  refund_confirms_after_seconds: z.string().trim().min(1).transform(Number).pipe(z.number().min(0)),
});

const faultSchema = z
  .object({
    operation: z.enum(FAULT_OPERATIONS),
    kind: z.enum(FAULT_KINDS),
    times: z.coerce.number().int().min(1).max(MAX_TIMES).default(1),
  })
  .refine(isPossible, {
    error: 'only a charge can have a forgotten key; only a notification can be silent or have a bad signature',
  });

/** Controls the sandbox: pay orders, read the ledger, inject faults. Only for clients on the loopback interface. */
export function simulatorApi(ledger: Ledger, faults: Faults, wakeNotifier: () => void): Router {
  const router = Router();
  router.use('/simulator', onlyLoopback);

  router.post('/simulator/payments/:id/pay', async (request, response) => {
    const body = parseBody(paySchema, request, response);
    if (!body) return;
    const result = await ledger.pay(request.params.id, body.notify ? body.times : 0);
    if (!result) return sendError(response, 404, 'not_found', 'This sandbox has no such order.');
    if (!result.paid) return sendError(response, 409, 'already_paid', 'This order has already been paid.');
    wakeNotifier();
    done(request, response, { payment: show(result.found) });
  });
  router.post('/simulator/scan', async (request, response) => {
    const body = parseBody(scanSchema, request, response);
    if (!body) return;
    const scanned = await scan(ledger, body.qris_payload);
    if (!scanned.isQris) return sendError(response, 400, 'invalid_qris', scanned.problem);
    // The order may expire between the two calls.
    const result = scanned.found && (await ledger.pay(scanned.found.order.orderId, 1, ['pending']));
    if (result?.paid) wakeNotifier();
    // The phone shows in which state the order is.
    else if (!isForm(request)) return sendError(response, 404, 'not_found', NO_PENDING_ORDER);
    done(request, response, { payment: result && show(result.found) });
  });
  router.get('/simulator/payments', async (_request, response) => {
    response.json({ payments: (await ledger.list()).map(show) });
  });
  addBankRoutes(router, ledger);
  addFaultRoutes(router, faults);
  return router;
}

function addBankRoutes(router: Router, ledger: Ledger): void {
  const showBank = async (_request: Request, response: Response) => {
    response.json({ refund_confirms_after_seconds: await ledger.bankDelaySeconds() });
  };
  router.get('/simulator/bank', showBank);
  router.put('/simulator/bank', async (request, response) => {
    const body = parseBody(bankSchema, request, response);
    if (!body) return;
    await ledger.setBankDelaySeconds(body.refund_confirms_after_seconds);
    await showBank(request, response);
  });
  router.post('/simulator/bank', async (request, response) => {
    const body = parseBody(bankFormSchema, request, response);
    if (!body) return;
    await ledger.setBankDelaySeconds(body.refund_confirms_after_seconds);
    done(request, response, body);
  });
}

function addFaultRoutes(router: Router, faults: Faults): void {
  const arm = (request: Request, response: Response) => {
    const fault = parseBody(faultSchema, request, response, 'invalid_fault');
    if (!fault) return;
    faults.arm(fault);
    done(request, response, { faults: faults.list() });
  };
  const clear = (request: Request, response: Response) => {
    faults.clear();
    done(request, response, { faults: [] });
  };
  router.get('/simulator/faults', (_request, response) => void response.json({ faults: faults.list() }));
  router.put('/simulator/faults', arm);
  router.delete('/simulator/faults', clear);
  // HTML forms have neither PUT nor DELETE.
  router.post('/simulator/faults', arm);
  router.post('/simulator/faults/clear', clear);
}

function show({ order, refunds }: OrderWithRefunds) {
  return {
    order_id: order.orderId,
    transaction_id: order.transactionId,
    status: order.status,
    gross_amount: formatAmount(order.grossAmountRupiah),
    transaction_time: formatMidtransTime(order.chargedAt),
    charge_calls: order.chargeCalls,
    status_calls: order.statusCalls,
    refunds: refunds.map((refund) => ({
      refund_key: refund.refundKey,
      amount: refund.amountRupiah,
      status: refund.status,
    })),
  };
}
