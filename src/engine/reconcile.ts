import { setTimeout as sleep } from 'node:timers/promises';
import { openException } from '../db/exceptions';
import { noteNews } from '../db/notifications';
import {
  findForReconciliation,
  listForReconciliation,
  listUnknownPayments,
  type ReconciledPayment,
} from '../db/reads/list-for-reconciliation';
import type { Queryable } from '../db/pool';
import {
  findBreaks,
  GRACE_MS,
  type Break,
  type FoundBreak,
  type ProviderRecord,
  type Reconciliation,
} from '../domain/reconciliation';
import type { ProviderRegistry } from '../providers/registry';
import type { PaymentsEngine } from './payments-engine';
import { sideBySide } from './side-by-side';

export interface ReconcileDependencies {
  readonly db: Queryable;
  readonly providers: ProviderRegistry;
  readonly engine: PaymentsEngine;
}

const AT_ONCE = 16;
const PROVIDER_DEADLINE_MS = 10_000;
/** A payment changes while it is looked at: what is wrong has to be wrong still after this long. */
const SECOND_LOOK_AFTER_MS = 3_000;

/**
 * Compares provider, PostgreSQL and workflow for every payment that is open or has changed since then, and finds workflows
 * without a payment. Where the provider's own word settles it, the workflow is told to ask; everything else is opened as an
 * exception. Nothing is changed by reconciling itself.
 */
export async function reconcile(
  dependencies: ReconcileDependencies,
  changedSince: Date,
  onProgress: (compared: number) => void = () => undefined,
): Promise<Reconciliation> {
  const { db, engine } = dependencies;
  let [compared, unclear] = [0, 0];
  const suspects: ReconciledPayment[] = [];
  await sideBySide(listForReconciliation(db, changedSince), AT_ONCE, async (payment) => {
    const breaks = await compare(dependencies, payment);
    if (breaks === 'unclear') unclear += 1;
    else if (breaks.length > 0) suspects.push(payment);
    onProgress((compared += 1));
  });

  if (suspects.length > 0) await sleep(SECOND_LOOK_AFTER_MS);
  const breaks: FoundBreak[] = [];
  await sideBySide(suspects, AT_ONCE, async ({ id }) => {
    const payment = await findForReconciliation(db, id);
    const found = payment && (await compare(dependencies, payment));
    if (found === 'unclear') unclear += 1;
    else if (payment && found) for (const one of found) breaks.push(await follow(db, payment, one));
  });
  for await (const paymentId of workflowsWithoutPayment(db, engine, changedSince)) {
    const detail = 'its workflow has no payment in PostgreSQL';
    breaks.push({ kind: 'missing', detail, replayable: false, paymentId, referenceId: null });
  }
  return { compared, unclear, breaks };
}

async function compare(
  { providers, engine }: ReconcileDependencies,
  { id, referenceId, providerAccountId, recorded }: ReconciledPayment,
): Promise<Break[] | 'unclear'> {
  const provider = await providers.forAccount(providerAccountId);
  const call = { signal: AbortSignal.timeout(PROVIDER_DEADLINE_MS), deadlineAtMs: Date.now() + PROVIDER_DEADLINE_MS };
  const [found, workflow] = await Promise.all([
    provider.findPayment(referenceId, call),
    engine.describePayment(id).catch(() => 'unclear' as const),
  ]);
  if (found.outcome === 'unclear' || workflow === 'unclear') return 'unclear';
  const order: ProviderRecord | null = found.outcome === 'found' ? found.payment : null;
  return findBreaks(recorded, order, workflow, Date.now());
}

async function follow(db: Queryable, payment: ReconciledPayment, found: Break): Promise<FoundBreak> {
  const { id, referenceId, providerAccountId, recorded } = payment;
  if (found.replayable) await noteNews(db, { accountId: providerAccountId, referenceId });
  else {
    await openException(db, {
      kind: 'reconciliation',
      referenceId,
      providerAccountId,
      paymentId: id,
      amountRupiah: recorded.totalRupiah,
      detail: `${found.kind}: ${found.detail}`,
    });
  }
  return { ...found, paymentId: id, referenceId };
}

const IDS_AT_ONCE = 500;

async function* workflowsWithoutPayment(
  db: Queryable,
  engine: PaymentsEngine,
  startedSince: Date,
): AsyncGenerator<string> {
  let ids: string[] = [];
  const before = new Date(Date.now() - GRACE_MS);
  for await (const id of engine.listPaymentIds(startedSince, before)) {
    ids.push(id);
    if (ids.length < IDS_AT_ONCE) continue;
    yield* await listUnknownPayments(db, ids);
    ids = [];
  }
  if (ids.length > 0) yield* await listUnknownPayments(db, ids);
}
