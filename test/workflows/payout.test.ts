import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { Activities } from '../../activities';
import type { ApprovalKind } from '../../src/domain/payout';
import type { ScheduledPayouts, ScheduledPayoutsPart } from '../../src/domain/payout-schedule';
import type { PayoutInput, PayoutStepInput, PayoutStepResult } from '../../src/domain/payout-step';
import type { PayoutStatus } from '../../src/domain/payout-transitions';
import { updateProof } from '../../src/domain/update-arguments';
import { BoundedClient } from '../../src/temporal/bounded-client';
import { PayoutClient } from '../../src/temporal/payout-client';
import { PAYOUTS_TASK_QUEUE, payoutWorkflowId } from '../../workflows/ids';
import { requestScheduledPayouts as runOfDay } from '../../workflows/scheduled-payouts';
import { collectRuns } from '../support/daily-runs';
import { eventually } from '../support/eventually';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../support/temporal';

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];
const DAY_MS = 24 * HOUR_MS;
const USER = { name: 'user:01935b6c-7c00-7000-8000-000000000001' } as const;
const OPERATOR = { name: 'operator:sari', note: 'ticket 12 of the bank' } as const;

const TERMS = {
  referenceId: 'LP0123456789ABCDEF',
  bankAccountId: randomUUID(),
  providerAccountId: randomUUID(),
  grossRupiah: 252_500,
  feeRupiah: 2_500,
  amountRupiah: 250_000,
} as const;
const REQUEST = {
  ...TERMS,
  rail: 'bi_fast',
  payoutPolicyId: 1,
  afterPostingId: 0,
  upToPostingId: 12,
  by: USER,
} as const;

type PayoutActivities = Pick<
  Activities,
  'requestPayout' | 'approvePayout' | 'cancelPayout' | 'submitPayout' | 'syncPayout' | 'resendPayout' | 'resolvePayout'
>;

let environment: TestWorkflowEnvironment;
let client: PayoutClient;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
  client = new PayoutClient(new BoundedClient(environment.client));
});
afterAll(() => environment.teardown());

/** The result of a step that leads to a status. */
function to(status: PayoutStatus, changes: Omit<PayoutStepResult, 'state'> = {}) {
  return async ({ state, atMs }: PayoutStepInput): Promise<PayoutStepResult> => ({
    state: {
      ...state,
      status,
      version: state.version + 1,
      ...(status === 'submitted' && { lastSentAtMs: atMs }),
    },
    ...changes,
  });
}

const keep = async ({ state }: PayoutStepInput): Promise<PayoutStepResult> => ({ state });

interface Row {
  readonly status?: PayoutStatus;
  readonly approvalKind?: ApprovalKind;
}

/** The activities of a payout that nothing holds back, with every call in its order. */
function activitiesOf({ status = 'requested', approvalKind = 'none' }: Row, changes: Partial<PayoutActivities>) {
  const calls: { name: string; input: PayoutStepInput }[] = [];
  const activities: PayoutActivities = {
    requestPayout: async ({ payoutId, merchantId, atMs }) => {
      const terms = { ...TERMS, payoutId, merchantId, approvalKind, requestedAtMs: atMs };
      return { outcome: 'requested', terms, state: { status, version: 1 } };
    },
    approvePayout: to('approved'),
    cancelPayout: to('cancelled'),
    submitPayout: to('submitted'),
    syncPayout: to('completed'),
    resendPayout: to('submitted'),
    resolvePayout: to('completed'),
    ...changes,
  };
  const recorded = Object.entries(activities).map(([name, activity]) => [
    name,
    (input: never) => {
      calls.push({ name, input });
      return activity(input);
    },
  ]);
  return { calls, activities: Object.fromEntries(recorded) };
}

/** Runs a worker with these activities meanwhile. */
async function during<Result>(activities: object, work: () => Promise<Result>): Promise<Result> {
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: PAYOUTS_TASK_QUEUE,
    workflowBundle: { codePath: workflowBundlePath() },
    activities,
  });
  return worker.runUntil(work());
}

const newKey = () => ({ payoutId: randomUUID(), merchantId: randomUUID() });
const requestOf = (key: ReturnType<typeof newKey>) => client.request({ ...REQUEST, ...key });
const handleOf = ({ payoutId }: PayoutInput) => environment.client.workflow.getHandle(payoutWorkflowId(payoutId));

/** Requests a payout, and skips the time until its workflow ends. */
async function run(row: Row = {}, changes: Partial<PayoutActivities> = {}, input: Partial<PayoutInput> = {}) {
  const { calls, activities } = activitiesOf(row, changes);
  const key = newKey();
  const result = await during(activities, async () => {
    if (input.wasSubmitted === undefined) await requestOf(key);
    else await client.resume({ ...key, ...input });
    return handleOf(key).result();
  });
  return { result, calls, names: calls.map(({ name }) => name) };
}

const executeDailyRun = () =>
  environment.client.workflow.execute(runOfDay, { workflowId: randomUUID(), taskQueue: PAYOUTS_TASK_QUEUE });

it('the daily run goes through all pages, also of the merchants that failed', async () => {
  const [broken, parts] = [Array.from({ length: 501 }, () => randomUUID()).toSorted(), [] as ScheduledPayoutsPart[]];
  const requestScheduledPayouts = async (part: ScheduledPayoutsPart): Promise<ScheduledPayouts> => {
    parts.push(part);
    const due = broken.filter((id) => part.after === null || id > part.after).slice(0, 500);
    const next = due.length === 500 ? (due.at(-1) ?? null) : null;
    return part.merchantIds === null
      ? { requested: 0, failed: due, next }
      : { requested: due.length, failed: [], next };
  };
  const daily = collectRuns();
  const result = await during({ requestScheduledPayouts, ...daily.activities }, executeDailyRun);
  expect(result).toBe('501 payouts requested');
  const seen = parts.map(({ after, merchantIds }) => [after, merchantIds?.length ?? null]);
  expect(seen).toEqual([
    [null, null],
    [broken[499], null],
    [null, 501],
    [broken[499], 501],
  ]);
  expect(daily.runs).toMatchObject([{ kind: 'payouts', isComplete: true, done: 501, failed: [], failure: null }]);
});

it('the daily run records the merchant whose request fails each time, and fails', async () => {
  const daily = collectRuns();
  const requestScheduledPayouts = async ({ merchantIds }: ScheduledPayoutsPart): Promise<ScheduledPayouts> => ({
    requested: merchantIds === null ? 7 : 0,
    failed: ['broken'],
    next: null,
  });
  const run = during({ requestScheduledPayouts, ...daily.activities }, executeDailyRun);
  await expect(run).rejects.toMatchObject({ cause: { message: '7 payouts requested, 1 merchants failed: broken' } });
  expect(daily.runs).toMatchObject([{ isComplete: false, done: 7, failed: ['broken'], failure: null }]);
});

it('a payout without an approval is requested, approved, submitted and completed, each with one call', async () => {
  const { result, names } = await run();
  expect(result).toBe('completed');
  expect(names).toEqual(['requestPayout', 'approvePayout', 'submitPayout', 'syncPayout']);
});

describe('the status at the bank', () => {
  it('the status at the bank is queried after 5 s, 30 s, 1, 5, 10, 15 and 30 min, and then each hour', async () => {
    let queries = 0;
    const { calls } = await run({}, { syncPayout: (input) => ((queries += 1) < 9 ? keep : to('completed'))(input) });
    const sync = calls.filter(({ name }) => name === 'syncPayout').map(({ input }) => input);
    const expected = [5, 30, ...[1, 5, 10, 15, 30, 90, 150].map((minutes) => minutes * 60)];
    const seconds = sync.map(({ atMs, state }) => (atMs - (state.lastSentAtMs ?? 0)) / SECOND_MS);
    expect(seconds.map((each) => Math.floor(each))).toEqual(expected);
  });

  it('the status at the bank is not queried before it proves something', async () => {
    const submitPayout: Activities['submitPayout'] = (input) =>
      to('submitted', { queryNotBeforeMs: input.atMs + 10 * MINUTE_MS })(input);
    const { calls } = await run({}, { submitPayout });
    const first = calls.find(({ name }) => name === 'syncPayout');
    expect((first?.input.atMs ?? 0) - (first?.input.state.lastSentAtMs ?? 0)).toBeGreaterThanOrEqual(10 * MINUTE_MS);
  });

  it('the status at the bank is queried by a notification, and by another one after the payout rests', async () => {
    const key = newKey();
    let queries = 0;
    const { activities, names } = (({ calls, activities }) => ({
      activities,
      names: () => calls.map(({ name }) => name),
    }))(activitiesOf({}, { syncPayout: (input) => ((queries += 1) < 2 ? keep : to('completed'))(input) }));
    await during(activities, async () => {
      await requestOf(key);
      await eventually(
        () => client.queryStatus(key.payoutId),
        (status) => status?.status === 'submitted',
      );
      await client.notify(key);
      await eventually(
        async () => names().filter((name) => name === 'syncPayout').length,
        (count) => count === 1,
      );
      await client.notify(key);
      expect(await handleOf(key).result()).toBe('completed');
    });
    const rested = activitiesOf({ status: 'completed' }, { syncPayout: to('returned') });
    await during(rested.activities, async () => {
      await client.notify(key);
      expect(await handleOf(key).result()).toBe('returned');
    });
    expect(rested.calls.map(({ name }) => name)).toEqual(['requestPayout', 'syncPayout']);
  });

  it('an indeterminate status at the bank needs attention after 30 s, and an operator can resolve it', async () => {
    const key = newKey();
    const { activities } = activitiesOf(
      { status: 'submitted' },
      { syncPayout: () => Promise.reject(ApplicationFailure.retryable('no response')), resolvePayout: to('failed') },
    );
    await during(activities, async () => {
      await client.resume(key);
      await eventually(
        async () => {
          await environment.sleep(10 * SECOND_MS);
          return client.queryStatus(key.payoutId);
        },
        (status) => status?.attentionReason?.includes('is being retried') ?? false,
      );
      const resolved = await client.perform({ ...key, version: 1 }, 'resolveAsFailed', OPERATOR);
      expect(resolved).toMatchObject({ outcome: 'done', state: { status: 'failed' } });
      expect(await handleOf(key).result()).toBe('failed');
    });
  });
});

describe('what was submitted', () => {
  it('every later step knows what was submitted, also if PostgreSQL has lost it', async () => {
    let queries = 0;
    const lost = async ({ state }: PayoutStepInput): Promise<PayoutStepResult> => ({
      state: { status: 'approved', version: state.version - 1 },
    });
    const { result, calls } = await run(
      {},
      { syncPayout: (input) => ((queries += 1) < 2 ? lost : to('completed'))(input) },
    );
    expect(result).toBe('completed');
    const submits = calls.filter(({ name }) => name === 'submitPayout').map(({ input }) => input.wasSubmitted ?? false);
    expect(submits).toEqual([false, true]);
  });

  it('the next run of a long history knows what was submitted', async () => {
    const { calls } = await run({ status: 'approved' }, {}, { wasSubmitted: true });
    expect(calls.find(({ name }) => name === 'submitPayout')?.input.wasSubmitted).toBe(true);
  });
});

describe('a payout that is deferred', () => {
  it('a deferred payout is tried again when the obstacle ends, and each hour', async () => {
    let attempts = 0;
    const submitPayout: Activities['submitPayout'] = async (input) => {
      attempts += 1;
      if (attempts === 1) {
        return { ...(await keep(input)), deferral: { obstacle: 'cooling_down', untilMs: input.atMs + 10 * MINUTE_MS } };
      }
      if (attempts === 2) return { ...(await keep(input)), deferral: { obstacle: 'merchant_on_hold' } };
      return to('submitted')(input);
    };
    const { result, calls } = await run({}, { submitPayout });
    expect(result).toBe('completed');
    const atMs = calls.filter(({ name }) => name === 'submitPayout').map(({ input }) => input.atMs);
    const delays = atMs.slice(1).map((each, index) => Math.round((each - (atMs[index] ?? 0)) / MINUTE_MS));
    expect(delays).toEqual([10, 60]);
  });

  it('shows why, and is tried again by a signal', async () => {
    const key = newKey();
    let isReleased = false;
    const submitPayout: Activities['submitPayout'] = async (input) =>
      isReleased ? to('submitted')(input) : { ...(await keep(input)), deferral: { obstacle: 'merchant_on_hold' } };
    await during(activitiesOf({}, { submitPayout }).activities, async () => {
      await requestOf(key);
      await eventually(
        () => client.queryStatus(key.payoutId),
        (status) => status?.waitingFor === 'an operator to release the merchant',
      );
      isReleased = true;
      await client.notify(key);
      await eventually(
        () => client.queryStatus(key.payoutId),
        (status) => status?.status === 'submitted',
      );
      expect(await handleOf(key).result()).toBe('completed');
    });
  });

  it('a deferred payout is cancelled if its bank account has ended', async () => {
    const submitPayout: Activities['submitPayout'] = async (input) => ({
      ...(await keep(input)),
      deferral: { obstacle: 'no_bank_account' },
    });
    const { result, calls } = await run({}, { submitPayout });
    expect(result).toBe('cancelled');
    expect(calls.at(-1)?.input.by).toEqual({ name: 'workflow', note: 'Its bank account has ended.' });
  });
});

describe('an approval', () => {
  it('an approval that does not come within 7 days cancels the request', async () => {
    const { result, calls } = await run({ approvalKind: 'second_user' });
    expect(result).toBe('cancelled');
    const [requested, cancelled] = calls.map(({ input }) => input.atMs);
    expect(((cancelled ?? 0) - (requested ?? 0)) / DAY_MS).toBeCloseTo(7, 2);
    expect(calls.at(-1)?.input.by?.note).toBe('It was not approved within 7 days.');
  });

  it('an approval is recorded for its actor and for the version that the actor has seen', async () => {
    const key = newKey();
    const syncPayout: Activities['syncPayout'] = (input) =>
      (input.state.status === 'requested' ? keep : to('completed'))(input);
    const { calls, activities } = activitiesOf({ approvalKind: 'second_user' }, { syncPayout });
    await during(activities, async () => {
      await requestOf(key);
      expect(await client.perform({ ...key, version: 2 }, 'approve', USER)).toEqual({ outcome: 'outdated' });
      const approved = await client.perform({ ...key, version: 1 }, 'approve', USER);
      expect(approved).toMatchObject({ outcome: 'done', state: { status: 'approved', version: 2 } });
      expect(await handleOf(key).result()).toBe('completed');
    });
    expect(calls.find(({ name }) => name === 'approvePayout')?.input.by).toEqual(USER);
  });

  it('an approval that only the row has is noticed at the next request, and the payout is sent', async () => {
    const key = newKey();
    const syncPayout: Activities['syncPayout'] = (input) =>
      (input.state.status === 'requested' ? to('approved') : to('completed'))(input);
    const { calls, activities } = activitiesOf({ approvalKind: 'second_user' }, { syncPayout });
    await during(activities, async () => {
      await requestOf(key);
      expect(await client.perform({ ...key, version: 2 }, 'cancel', USER)).toEqual({ outcome: 'outdated' });
      expect(await handleOf(key).result()).toBe('completed');
    });
    expect(calls.map(({ name }) => name)).toEqual(['requestPayout', 'syncPayout', 'submitPayout', 'syncPayout']);
  });

  it('an approval that the activity rejects is rejected, and the payout waits for another one', async () => {
    const key = newKey();
    const approvePayout: Activities['approvePayout'] = async (input) => ({
      ...(await keep(input)),
      rejection: 'Another member has to approve it.',
    });
    await during(activitiesOf({ approvalKind: 'second_user' }, { approvePayout }).activities, async () => {
      await requestOf(key);
      const rejected = { outcome: 'rejected', reason: 'Another member has to approve it.' };
      expect(await client.perform({ ...key, version: 1 }, 'approve', USER)).toEqual(rejected);
      expect(await client.perform({ ...key, version: 1 }, 'cancel', USER)).toMatchObject({ outcome: 'done' });
      expect(await handleOf(key).result()).toBe('cancelled');
    });
  });
});

describe('a request', () => {
  it('a rejected request has no payout, and no step follows', async () => {
    const { result, names } = await run({}, { requestPayout: async () => ({ outcome: 'rejected' }) });
    expect(result).toBeNull();
    expect(names).toEqual(['requestPayout']);
  });

  it.each([
    ['is rejected if no attempt succeeds within ten minutes', false, null],
    ['goes on if an attempt has written its row, and no result came back', true, 'completed'],
  ])('%s', async (_title, isWritten, expected) => {
    const row = activitiesOf({}, {}).activities;
    const requestPayout: Activities['requestPayout'] = async (input) => {
      if (!input.isOverdue) throw new Error('PostgreSQL is slow');
      return isWritten ? row.requestPayout(input) : { outcome: 'rejected' };
    };
    const key = newKey();
    const handle = handleOf(key);
    await during({ ...row, requestPayout }, async () => {
      await environment.client.workflow.start('payout', {
        workflowId: handle.workflowId,
        taskQueue: PAYOUTS_TASK_QUEUE,
        args: [{ ...key, request: { ...REQUEST, ...key } }],
      });
      expect(await handle.result()).toBe(expected);
    });
    const { startTime, closeTime } = await handle.describe();
    const minutes = ((closeTime ?? startTime).getTime() - startTime.getTime()) / MINUTE_MS;
    expect(minutes).toBeGreaterThan(10);
    expect(minutes).toBeLessThan(13);
  });

  it.each([
    ['of a key', 'cancel', { name: 'key:01935b6c-7c00-7000-8000-000000000001' }],
    ['of a member to send it again', 'resend', USER],
    ['of a member to resolve it', 'resolveAsCompleted', USER],
    ['of the system', 'approve', { name: 'merchant' }],
  ] as const)('%s is rejected by the workflow', async (_, action, actor) => {
    const key = newKey();
    await during(activitiesOf({ approvalKind: 'second_user' }, {}).activities, async () => {
      await requestOf(key);
      expect(await client.perform({ ...key, version: 1 }, action, actor)).toEqual({
        outcome: 'rejected',
        reason: expect.stringContaining('This actor cannot request'),
      });
      await handleOf(key).terminate();
    });
  });

  it('a request of a stranger, without the proof of its update, is rejected', async () => {
    const key = newKey();
    await during(activitiesOf({ approvalKind: 'second_user' }, {}).activities, async () => {
      await requestOf(key);
      const args: [object, null, string, null] = [USER, null, updateProof('cancel', randomUUID(), 1), null];
      await expect(
        handleOf(key).executeUpdate<unknown, typeof args>('cancel', { args, updateId: randomUUID() }),
      ).rejects.toMatchObject({
        cause: { message: expect.stringContaining('belong to no request') },
      });
      await handleOf(key).terminate();
    });
  });

  it('a request to resolve a payout that rests starts its workflow again', async () => {
    const key = newKey();
    await during(activitiesOf({ status: 'failed' }, {}).activities, async () => {
      const resolved = await client.perform({ ...key, version: 1 }, 'resolveAsCompleted', OPERATOR);
      expect(resolved).toMatchObject({ outcome: 'done', state: { status: 'completed' } });
      expect(await handleOf(key).result()).toBe('completed');
    });
  });

  it('a request that arrives while the row of a payout that rests is read is handled too', async () => {
    const key = newKey();
    const row = activitiesOf({ status: 'completed' }, { resolvePayout: to('returned') }).activities;
    let isAway = true;
    const requestPayout: Activities['requestPayout'] = async (input) => {
      if (isAway) throw new Error('PostgreSQL is away');
      return row.requestPayout(input);
    };
    await during({ ...row, requestPayout }, async () => {
      await client.resume(key);
      const resolved = client.perform({ ...key, version: 1 }, 'resolveAsReturned', OPERATOR);
      await eventually(
        async () => (await handleOf(key).fetchHistory()).events ?? [],
        (events) => events.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes),
      );
      isAway = false;
      expect(await resolved).toMatchObject({ outcome: 'done', state: { status: 'returned' } });
      expect(await handleOf(key).result()).toBe('returned');
    });
  });

  it('a request that the status does not allow is rejected with the reason', async () => {
    const key = newKey();
    await during(activitiesOf({ status: 'completed' }, {}).activities, async () => {
      expect(await client.perform({ ...key, version: 1 }, 'cancel', USER)).toEqual({
        outcome: 'rejected',
        reason: 'A payout that is "completed" cannot be cancelled.',
      });
    });
  });
});
