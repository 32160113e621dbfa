import type { RecordedCase, RecordedCaseKind } from '../db/operations/list-attention';
import { describeRetriedStep, type RetriedStep } from '../domain/retried-step';
import { messageOf } from '../errors';
import { withTimeout } from '../lib/with-timeout';
import type { UnpolledTaskQueue } from '../temporal/task-queue-polls';
import type { ListedVersion } from '../temporal/worker-versions';
import type { WorkflowNeedingAttention } from '../temporal/workflow-records';

export type AttentionKind = RecordedCaseKind | 'workflow' | 'worker' | 'worker_version' | 'temporal' | 'postgresql';

/** What waits for an operator. */
export interface AttentionCase extends Omit<RecordedCase, 'kind'> {
  readonly kind: AttentionKind;
}

/** Cases of one kind and cause, with what the oldest one has. */
export interface AttentionRow extends AttentionCase {
  /** With `CASES_OF_KIND` there may be more. */
  readonly count: number;
  /** The oldest few of them. */
  readonly firstCases: readonly AttentionCase[];
}

/** Everything that waits for an operator, the oldest first. */
export interface Attention {
  readonly rows: readonly AttentionRow[];
  /** How many rows were left out. */
  readonly moreRows: number;
  readonly cases: readonly AttentionCase[];
}

/** What PostgreSQL does not have. */
export interface TemporalAttention {
  readonly workflows: readonly WorkflowNeedingAttention[];
  readonly versions: readonly ListedVersion[];
  readonly unpolled: readonly UnpolledTaskQueue[];
}

/** The payments of a version are settled or refunded within days: a version that drains for longer has a cause. */
const MAX_DRAIN_MS = 3 * 86_400_000;

/** How many cases of one kind are read. */
export const CASES_OF_KIND = 1_000;

const FIRST_CASES = 5;

/** A case without what only some have. */
const PLAIN = { merchantId: null, cause: null, about: null } as const;

/** Reads one half of the cases, with at most `CASES_OF_KIND` of each kind. */
interface Halves {
  readonly postgresql: () => Promise<readonly RecordedCase[]>;
  readonly temporal: () => Promise<TemporalAttention>;
  /** By reference; for the workflows of the other half. */
  readonly accountsOf: (references: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

/** What each half may take. */
export const HALF_MS = 2_000;

/**
 * Reads both halves at the same time. One that is away is a case too, and hides nothing of the other one.
 * @param limit of rows and of cases; each kind has at least one of them nevertheless
 */
export async function listAttention(halves: Halves, limit: number): Promise<Attention> {
  const [recorded, inTemporal] = await Promise.all([
    half(halves.postgresql()).catch((error: unknown) => [awayCase('postgresql', error)]),
    half(halves.temporal()).catch((error: unknown) => awayCase('temporal', error)),
  ]);
  const isAway = recorded.some(({ kind }) => kind === 'postgresql');
  const accountsOf = isAway ? () => Promise.resolve(NO_ACCOUNTS) : halves.accountsOf;
  const others = 'kind' in inTemporal ? [inTemporal] : await casesOf(accountsOf, inTemporal);
  const known = new Set(recorded.map(({ subject }) => subject));
  const unknown = others.filter(({ subject }) => subject === null || !known.has(subject));
  const cases = [...recorded, ...unknown].toSorted((one, other) => one.since.getTime() - other.since.getTime());
  const rows = groupCases(cases);
  const shown = takeOfEachKind(rows, limit);
  return { rows: shown, moreRows: rows.length - shown.length, cases: takeOfEachKind(cases, limit) };
}

function half<Result>(reading: Promise<Result>): Promise<Result> {
  return withTimeout(HALF_MS, reading, () => new Error(`no response in ${HALF_MS / 1_000} s`));
}

/** @param cases the oldest first, as are the rows */
function groupCases(cases: readonly AttentionCase[]): AttentionRow[] {
  const groups = groupBy(cases, ({ kind, cause }) => `${kind} ${cause ?? ''}`);
  return groups.flatMap((group): AttentionRow[] => {
    const [oldest] = group;
    if (!oldest) return [];
    const isOfOneMerchant = group.every(({ merchantId }) => merchantId === oldest.merchantId);
    const merchantId = isOfOneMerchant ? oldest.merchantId : null;
    return [{ ...oldest, merchantId, count: group.length, firstCases: group.slice(0, FIRST_CASES) }];
  });
}

/** In the order of the first item of each. */
function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}

/** The oldest of each kind, and the oldest of all others up to the limit; in the order as before. */
function takeOfEachKind<Item extends Pick<AttentionCase, 'kind'>>(items: readonly Item[], limit: number): Item[] {
  const firsts = new Set(groupBy(items, ({ kind }) => kind).flatMap(([first]) => first ?? []));
  const others = items.filter((item) => !firsts.has(item)).slice(0, Math.max(0, limit - firsts.size));
  const taken = new Set([...firsts, ...others]);
  return items.filter((item) => taken.has(item));
}

async function casesOf(
  accountsOf: Halves['accountsOf'],
  { workflows, versions, unpolled }: TemporalAttention,
): Promise<AttentionCase[]> {
  const drainedUntil = new Date(Date.now() - MAX_DRAIN_MS);
  const references = workflows.map(({ referenceId }) => referenceId);
  const accounts = await half(accountsOf(references)).catch(() => NO_ACCOUNTS);
  return [
    ...workflowCases(workflows, accounts),
    ...unpolled.map(({ taskQueue, lastPolledAt }): AttentionCase => {
      const since = lastPolledAt ?? new Date();
      return { ...PLAIN, kind: 'worker', subject: taskQueue, since, detail: `no worker polls ${taskQueue}` };
    }),
    ...versions.flatMap(({ buildId, drainingSince }): AttentionCase[] => {
      if (drainingSince === undefined || drainingSince > drainedUntil) return [];
      const detail = 'still has open workflows';
      return [{ ...PLAIN, kind: 'worker_version', subject: buildId, since: drainingSince, detail }];
    }),
  ];
}

/** A workflow that was not looked at has the most frequent cause of its account. */
function workflowCases(
  workflows: readonly WorkflowNeedingAttention[],
  accounts: ReadonlyMap<string, string>,
): AttentionCase[] {
  const cases = workflows.flatMap((workflow): AttentionCase[] => {
    if (workflow.retriedStep === undefined) return [];
    return [workflowCase(workflow, workflow.retriedStep, accounts.get(workflow.referenceId))];
  });
  const ofCauses = groupBy(cases, ({ cause }) => cause ?? '').toSorted((one, other) => one.length - other.length);
  const frequent = new Map(ofCauses.flat().map((found) => [accounts.get(found.subject ?? ''), found]));
  const others = workflows.flatMap(({ referenceId, merchantId, startedAt, retriedStep }): AttentionCase[] => {
    if (retriedStep !== undefined) return [];
    const like = frequent.get(accounts.get(referenceId));
    const inherited = like ?? { ...PLAIN, kind: 'workflow' as const, detail: null };
    return [{ ...inherited, subject: referenceId, merchantId, since: startedAt }];
  });
  return [...cases, ...others];
}

function workflowCase(
  { workflowId, referenceId, merchantId, startedAt }: WorkflowNeedingAttention,
  retriedStep: RetriedStep | null,
  accountId: string | undefined,
): AttentionCase {
  const detail = retriedStep ? describeRetriedStep(retriedStep) : `${workflowId}, started then`;
  const found = { ...PLAIN, kind: 'workflow' as const, subject: referenceId, merchantId, since: startedAt, detail };
  if (!retriedStep) return found;
  const { activity, failure, isOfProvider } = retriedStep;
  const about = isOfProvider && accountId !== undefined ? accountId : null;
  // Failures of one cause differ in the ids, times and amounts that they name.
  const cause = [about ?? '', activity, failure.replaceAll(/[\w-]*\d[\w-]*/g, '…')].join(' ').trim();
  return { ...found, cause, about };
}

/** PostgreSQL is away, or does not respond in time. */
const NO_ACCOUNTS: ReadonlyMap<string, string> = new Map();

function awayCase(kind: 'postgresql' | 'temporal', error: unknown): AttentionCase {
  return { ...PLAIN, kind, subject: null, since: new Date(), detail: messageOf(error) };
}
