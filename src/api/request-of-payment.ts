import { setTimeout as sleep } from 'node:timers/promises';
import { findPayment, type PaymentKey } from '../db/reads/find-payment';
import type { PaymentRow } from '../db/reads/payment-row';
import type { ApiErrorCode } from '../domain/errors';
import { whyRefused } from '../domain/payment-requests';
import type { PaymentsEngine, RequestOutcome } from '../engine/payments-engine';
import { ApiError } from './api-error';
import type { MerchantEndpoint } from './endpoint';
import { parsePathId } from './path-id';

/** What Temporal needs to notice that a worker died is 3 s: a step of its may be in PostgreSQL, and its workflow not know of it yet. */
const CATCH_UP_TRIES = 16;
const CATCH_UP_PAUSE_MS = 250;

/** Something that a merchant asks of a payment, and that its workflow does. */
interface RequestOfPayment {
  readonly request: 'cancel' | 'refund';
  readonly code: ApiErrorCode;
  readonly ask: (engine: PaymentsEngine, paymentId: string) => Promise<RequestOutcome>;
  readonly view: (payment: PaymentRow) => object;
}

/**
 * Requests for one payment take turns, and each looks again before it asks: of twenty at once one is done, and the others
 * are told so without a word to Temporal, which takes ten at a time.
 */
export function requestOfPayment({ request, code, ask, view }: RequestOfPayment): MerchantEndpoint {
  return async ({ db, engine, turns }, { params }, { merchantId }) => {
    const key = parsePathId(String(params.id));
    if (!key) throw notFound();
    const { id } = await find(key);
    return turns.take(id, async (endsAtMs) => {
      const asked = await askTheWorkflow(engine.endingAt(endsAtMs), id);
      if (asked.outcome === 'refused') throw new ApiError(code, asked.reason);
      const now = await find({ id });
      if (asked.outcome === 'no_workflow') {
        requirePossible(now);
        throw new Error(`Payment ${id} is "${now.status}" and has no workflow: run \`lunas recover\``);
      }
      return { status: 200, body: { payment: view({ ...now, status: asked.status }) } };
    });

    /**
     * A workflow that took the payment for what it no longer is, is asked again when it has caught up: with its own repeat of
     * the step, or, if Temporal has lost that step, with PostgreSQL.
     */
    async function askTheWorkflow(inTime: PaymentsEngine, id: string): Promise<RequestOutcome> {
      for (let triesLeft = CATCH_UP_TRIES; ; triesLeft -= 1) {
        requirePossible(await find({ id }));
        const asked = await ask(inTime, id);
        if (asked.outcome !== 'refused' || asked.status === undefined || triesLeft === 0) return asked;
        if (asked.status === (await find({ id })).status) return asked;
        if (triesLeft === CATCH_UP_TRIES) await inTime.reportPaid(id);
        await sleep(CATCH_UP_PAUSE_MS);
      }
    }

    async function find(by: PaymentKey): Promise<PaymentRow> {
      const payment = await findPayment(db, merchantId, by);
      if (!payment) throw notFound();
      return payment;
    }
  };

  function requirePossible(payment: PaymentRow): void {
    const refused = whyRefused(request, payment, payment, Date.now());
    if (refused !== null) throw new ApiError(code, refused);
  }
}

function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such transaction.');
}
