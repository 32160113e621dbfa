import {
  condition,
  defineSignal,
  defineUpdate,
  proxyLocalActivities,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type * as activities from './activities';

export const noopUpdate = defineUpdate('noop');
export const bareCreateUpdate = defineUpdate('create');
export const barePaidSignal = defineSignal('paid');

/** Measures update-with-start alone: no activity, no timer, no search attribute. */
export async function noop(): Promise<void> {
  let isDone = false;
  setHandler(noopUpdate, () => {
    isDone = true;
  });
  await condition(() => isDone);
}

const EXPIRES_IN_MS = 86_400_000;
const { doNothing, reportFinished } = proxyLocalActivities<typeof activities>({ startToCloseTimeout: 6_000 });

/**
 * The lifecycle of a payment without its business: the same update, signal, timers, local activities and search
 * attributes, and nothing else. Its history has the events of a payment's.
 */
export async function bareLifecycle(settlementDelayMs: number): Promise<void> {
  let isPending = false;
  let isPaid = false;
  setHandler(bareCreateUpdate, () => condition(() => isPending));
  setHandler(barePaidSignal, () => {
    isPaid = true;
  });
  await doNothing();
  isPending = true;
  showStatus('pending');
  await condition(() => isPaid, EXPIRES_IN_MS);
  await doNothing();
  showStatus('paid');
  await sleep(settlementDelayMs);
  await reportFinished(workflowInfo().workflowId);
  showStatus('settled');
}

function showStatus(value: string): void {
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTES.paymentStatus, value }]);
}
