import { setTimeout as sleep } from 'node:timers/promises';
import { OPEN_STATUSES } from '../../src/domain/payment-transitions';
import type { PaymentActionDependencies } from '../../src/services/payments/actions/operator-action';
import {
  performForEach,
  performPaymentAction,
  type OperatorPaymentOperation,
} from '../../src/services/payments/actions/perform-action';
import { resolveRefundAsPaid } from '../../src/services/payments/actions/resolve-refund';
import { retryRefund } from '../../src/services/payments/actions/retry-refund';
import { listSettleable, settlePayment } from '../../src/services/payments/actions/settle-payment';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { osUser } from '../support/actors';
import { eventually } from '../support/eventually';
import type { ReturnedPayment } from './journal';
import { CONVERGENCE_TIMEOUT_MS } from './settings';
import type { FaultStack } from './stack';
import { GOPAY_POLICY } from './stack-parts';
import { clearProviderFaults, setProviderFault } from './trials';
import type { Workload } from './workload';

/** The sandbox rejects each refund of a payment over this total (`src/sandbox/magic-amounts.ts`). */
const REFUNDS_REJECTED_TOTAL = 1_000_414;
const ORDINARY_TOTAL = 100_000;
/** An action may come while Temporal is starting. */
const ACTION_TIMEOUT_MS = 60_000;
const REPEAT_AFTER_MS = 500;
/** The customer pays after the recovery, which can take longer than the 20 s of other payments on a busy machine. */
const TIME_TO_PAY_SECONDS = 120;
/** More than the trial and the workload request before the recovery. */
const REFUNDS_WITHOUT_RESPONSE = 1_000;

export interface Rewound {
  /** What `lunas recover` printed, and when it was over (`performance.now`). */
  readonly recovered: string;
  readonly recoveredAt: number;
  /** What Lunas could not do after the recovery. */
  readonly unfinished: readonly string[];
}

/**
 * Replaces Temporal's database by a copy that is some seconds old, and recovers.
 * Between the copy and its return an operator settles a payment, resolves a rejected refund and retries another one.
 * A payment is created. The last request opens a refund, which is then held.
 * Settlement is manual meanwhile: a timer would bring a workflow to its next step, and so up to date.
 * @throws Error if the preparation fails, before the recovery
 */
export async function rewindTemporal(
  stack: FaultStack,
  workload: Workload,
  recover: () => Promise<unknown>,
  convergenceTimeoutMs = CONVERGENCE_TIMEOUT_MS,
): Promise<Rewound> {
  const payments = new PaymentActions(stack);
  const customer = workload.scenario(ORDINARY_TOTAL);

  await setPolicy(stack.db, { ...GOPAY_POLICY, settlementKind: 'manual', expiresInSeconds: TIME_TO_PAY_SECONDS });
  const [toRefund, toSettle, toResolve, toRetry] = await Promise.all([
    createPaid(workload, ORDINARY_TOTAL),
    createPaid(workload, ORDINARY_TOTAL),
    createWithRejectedRefund(workload),
    createWithRejectedRefund(workload),
  ]);
  await stack.copyTemporal();
  const created = await customer.create();
  await payments.perform(settlePayment, toSettle, ACTION_TIMEOUT_MS);
  await payments.perform(resolveRefundAsPaid, toResolve, ACTION_TIMEOUT_MS);
  await setProviderFault(stack, { operation: 'refund', kind: 'timeout' }, REFUNDS_WITHOUT_RESPONSE);
  await payments.perform(retryRefund, toRetry, ACTION_TIMEOUT_MS);
  await customer.request(toRefund, 'refund');
  await stack.rewindTemporal();
  for (const payment of [toRetry, toRefund]) await payments.waitForStatus(payment, 'refund_processing', 0);

  const recovered = JSON.stringify(await recover());
  await clearProviderFaults(stack);
  const recoveredAt = performance.now();
  await setPolicy(stack.db, { ...GOPAY_POLICY, settlementKind: 'automatic' });
  const unfinished: string[] = [];
  const finish = async (what: string, step: (leftMs: number) => Promise<void>): Promise<void> => {
    const leftMs = Math.max(recoveredAt + convergenceTimeoutMs - performance.now(), 0);
    await step(leftMs).catch((error: unknown) => unfinished.push(`${what}: ${String(error)}`));
  };
  await Promise.all([
    finish('the held refund is submitted', (leftMs) => payments.waitForStatus(toRefund, 'refunded', leftMs)),
    finish('the retried refund is rejected again, and resolved', async (leftMs) => {
      await payments.waitForStatus(toRetry, 'refund_failed', leftMs);
      await payments.perform(resolveRefundAsPaid, toRetry, leftMs);
    }),
    finish('the created payment is paid', async (leftMs) => {
      await customer.pay(created);
      await payments.waitForStatus(created, 'paid', leftMs);
    }),
  ]);
  await finish('an operator settles every payment of manual settlement', (leftMs) => payments.settleAll(leftMs));
  return { recovered, recoveredAt, unfinished };
}

const OPERATOR = osUser('fault test');

/** What an operator does with payments, and what PostgreSQL has of them. */
class PaymentActions {
  readonly #dependencies: PaymentActionDependencies;

  constructor(private readonly stack: FaultStack) {
    this.#dependencies = { db: stack.db, workflows: new PaymentWorkflowClient(stack.client) };
  }

  /** Repeats an operator's action until PostgreSQL has it. */
  async perform(operation: OperatorPaymentOperation, { id }: ReturnedPayment, timeoutMs: number): Promise<void> {
    const before = await this.#versionOf(id);
    const attempt = async () => {
      const request = { operation, payment: id, note: 'fault test' };
      await performPaymentAction(this.#dependencies, OPERATOR, request).catch(() => sleep(REPEAT_AFTER_MS));
      return this.#versionOf(id);
    };
    await eventually(attempt, (version) => version > before, timeoutMs);
  }

  async settleAll(timeoutMs: number): Promise<void> {
    const attempt = async () => {
      const merchantIds = await this.#listWithManualSettlement();
      for (const merchantId of merchantIds) {
        const settleable = await listSettleable(this.stack.db, merchantId, new Date());
        await performForEach(this.#dependencies, OPERATOR, { operation: settlePayment, done: 'settled' }, settleable);
      }
      await sleep(REPEAT_AFTER_MS);
      return merchantIds.length;
    };
    await eventually(attempt, (count) => count === 0, timeoutMs);
  }

  async waitForStatus({ id }: ReturnedPayment, status: string, timeoutMs: number): Promise<void> {
    const read = async () => {
      const text = 'select status from payments where id = $1';
      const { rows } = await this.stack.db.query<{ status: string }>(text, [id]);
      return rows[0]?.status;
    };
    await eventually(read, (found) => found === status, timeoutMs);
  }

  async #versionOf(id: string): Promise<number> {
    const text = 'select version from payments where id = $1';
    const { rows } = await this.stack.db.query<{ version: number }>(text, [id]);
    return rows[0]?.version ?? 0;
  }

  /** The merchants that have open payments of manual settlement. */
  async #listWithManualSettlement(): Promise<string[]> {
    const { rows } = await this.stack.db.query<{ merchantId: string }>(
      `select distinct merchant_id as "merchantId" from payments
       where settlement_kind = 'manual' and status = any($1)`,
      [OPEN_STATUSES],
    );
    return rows.map(({ merchantId }) => merchantId);
  }
}

async function createPaid(workload: Workload, total: number): Promise<ReturnedPayment> {
  const customer = workload.scenario(total);
  const payment = await customer.create();
  await customer.pay(payment);
  await customer.waitForStatus(payment, ['paid']);
  return payment;
}

async function createWithRejectedRefund(workload: Workload): Promise<ReturnedPayment> {
  const payment = await createPaid(workload, REFUNDS_REJECTED_TOTAL);
  const merchant = workload.scenario(REFUNDS_REJECTED_TOTAL);
  await merchant.request(payment, 'refund');
  await merchant.waitForStatus(payment, ['refund_failed']);
  return payment;
}
