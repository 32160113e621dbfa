import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import type { OperatorPaymentAction } from '../../src/domain/payment-actions';
import { performPaymentAction } from '../../src/operator/payment-actions';
import { setPolicy } from '../../src/operator/catalog';
import { listSettleable, settlePayments } from '../../src/operator/settle-payments';
import { eventually } from '../support/eventually';
import type { ReturnedPayment } from './journal';
import type { Workload } from './workload';
import { CONVERGENCE_TIMEOUT_MS } from './settings';
import { GOPAY_POLICY, type FaultStack } from './stack';
import { clearProviderFaults, setProviderFault } from './trials';

/** The sandbox rejects each refund of a payment over this total (`src/sandbox/magic-amounts.ts`). */
const REFUNDS_REJECTED_TOTAL = 1_000_414;
const ORDINARY_TOTAL = 100_000;
/** Before the copy is put back: what an operator or a merchant does may meet a Temporal that is just starting. */
const ACTION_TIMEOUT_MS = 60_000;
const REPEAT_AFTER_MS = 500;
/** More than the payments of the trial and of the load make before the recovery. */
const REFUNDS_WITHOUT_RESPONSE = 1_000;

export interface Rewound {
  /** What the recovery printed, and when it had ended (`performance.now`). */
  readonly recovered: string;
  readonly recoveredAt: number;
  /** What the product could not do after the recovery. */
  readonly unfinished: readonly string[];
}

/**
 * Replaces Temporal's database by a copy that is some seconds old, and recovers. Between the copy and its return a payment is
 * settled and one created, a rejected refund is resolved, another one is retried and in flight; the last request opens a
 * refund, which is held then. Settlement is manual meanwhile, since a timer would bring a workflow to its next step, and so up to date.
 * @throws Error if what should happen before the recovery did not happen
 */
export async function rewindTemporal(
  stack: FaultStack,
  workload: Workload,
  recover: () => Promise<unknown>,
  convergenceTimeoutMs = CONVERGENCE_TIMEOUT_MS,
): Promise<Rewound> {
  const { db } = stack;
  const by = { via: 'cli', name: 'fault test' } as const;
  const context = { db, workflows: new PaymentWorkflowClient(stack.client), by };

  await setPolicy(db, { ...GOPAY_POLICY, settlementKind: 'manual' });
  const [toRefund, toSettle, toResolve, toRetry] = await Promise.all([
    createPaid(workload, ORDINARY_TOTAL),
    createPaid(workload, ORDINARY_TOTAL),
    createWithRejectedRefund(workload),
    createWithRejectedRefund(workload),
  ]);
  await stack.copyTemporal();
  const customer = workload.scenario(ORDINARY_TOTAL);
  const created = await customer.create();
  await act('settle', toSettle, ACTION_TIMEOUT_MS);
  await act('resolveRefundAsPaid', toResolve, ACTION_TIMEOUT_MS);
  await setProviderFault(stack, { operation: 'refund', kind: 'timeout' }, REFUNDS_WITHOUT_RESPONSE);
  await act('retryRefund', toRetry, ACTION_TIMEOUT_MS);
  await customer.request(toRefund, 'refund');
  await stack.rewindTemporal();
  for (const payment of [toRetry, toRefund]) await waitForStatus(payment, 'refund_processing', 0);

  const recovered = JSON.stringify(await recover());
  await clearProviderFaults(stack);
  const recoveredAt = performance.now();
  await setPolicy(db, { ...GOPAY_POLICY, settlementKind: 'automatic' });
  const unfinished: string[] = [];
  await Promise.all([
    finish('the held refund goes out', (leftMs) => waitForStatus(toRefund, 'refunded', leftMs)),
    finish('the retried refund is rejected again, and resolved', async (leftMs) => {
      await waitForStatus(toRetry, 'refund_failed', leftMs);
      await act('resolveRefundAsPaid', toRetry, leftMs);
    }),
    finish('the created payment is paid', async (leftMs) => {
      await customer.pay(created);
      await waitForStatus(created, 'paid', leftMs);
    }),
  ]);
  await finish('an operator settles every payment of manual settlement', settleAll);
  return { recovered, recoveredAt, unfinished };

  async function finish(what: string, step: (leftMs: number) => Promise<void>): Promise<void> {
    const leftMs = Math.max(recoveredAt + convergenceTimeoutMs - performance.now(), 0);
    await step(leftMs).catch((error: unknown) => unfinished.push(`${what}: ${String(error)}`));
  }

  /** Repeats an operator's action until PostgreSQL has it. */
  async function act(action: OperatorPaymentAction, { id }: ReturnedPayment, timeoutMs: number): Promise<void> {
    const before = await versionOf(id);
    const attempt = async () => {
      await performPaymentAction(context, action, id, 'fault test').catch(() => sleep(REPEAT_AFTER_MS));
      return versionOf(id);
    };
    await eventually(attempt, (version) => version > before, timeoutMs);
  }

  async function settleAll(timeoutMs: number): Promise<void> {
    const attempt = async () => {
      await settlePayments(context, await listSettleable(db, stack.merchantId, new Date()));
      await sleep(REPEAT_AFTER_MS);
      return countOpenWithManualSettlement();
    };
    await eventually(attempt, (count) => count === 0, timeoutMs);
  }

  async function waitForStatus(payment: ReturnedPayment, status: string, timeoutMs: number): Promise<void> {
    await eventually(
      () => statusOf(payment),
      (found) => found === status,
      timeoutMs,
    );
  }

  async function statusOf({ id }: ReturnedPayment): Promise<string | undefined> {
    const { rows } = await db.query<{ status: string }>('select status from payments where id = $1', [id]);
    return rows[0]?.status;
  }

  async function versionOf(id: string): Promise<number> {
    const { rows } = await db.query<{ version: number }>('select version from payments where id = $1', [id]);
    return rows[0]?.version ?? 0;
  }

  async function countOpenWithManualSettlement(): Promise<number> {
    const { rows } = await db.query<{ count: number }>(
      `select count(*) as count from payments where settlement_kind = 'manual'
         and status in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed')`,
    );
    return rows[0]?.count ?? 0;
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
