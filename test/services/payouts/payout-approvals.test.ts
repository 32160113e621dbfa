import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { inTransaction } from '../../../src/db/connection/transaction';
import type { OperatorActor } from '../../../src/domain/actor';
import type { PayoutResolution } from '../../../src/domain/payout-actions';
import { listActions } from '../../../src/services/audit/list-actions';
import { listApprovals } from '../../../src/services/audit/list-approvals';
import { requireDone } from '../../../src/services/operations/require-done';
import { approvePayout } from '../../../src/services/payouts/approve-payout';
import { cancelPayout } from '../../../src/services/payouts/cancel-payout';
import { getPayoutLimits, setPayoutLimits } from '../../../src/services/payouts/payout-limits';
import { listPayoutPolicies, setPayoutPolicy } from '../../../src/services/payouts/payout-policies';
import { findPayoutStop } from '../../../src/services/payouts/payout-stops';
import { findPayout } from '../../../src/services/payouts/payouts';
import { resendPayout } from '../../../src/services/payouts/resend-payout';
import { resolvePayout } from '../../../src/services/payouts/resolve-payout';
import { startPayouts } from '../../../src/services/payouts/start-payouts';
import { stopPayouts } from '../../../src/services/payouts/stop-payouts';
import { operatorOf, osUser } from '../../support/actors';
import { approve, type Executors } from '../../support/approve';
import { SILENT } from '../../support/collect-log';
import { NOTHING_TO_SEAL } from '../../support/deciding';
import { eventually } from '../../support/eventually';
import { NO_WORKFLOWS } from '../../support/no-workflows';
import { createByOperator } from '../../support/payout-acts';
import {
  addLines,
  applyPayout,
  applyPayoutTransition,
  createTestPayouts,
  withNewMerchant,
  writersAsWorkflows,
  type TestPayouts,
} from '../../support/payouts';
import { createOperatorWithLogin, setEnvironment, urlOfOperator } from '../../support/production';

/* In production two operators move the money of a payout that no member or bank decides. */

const DAY_SECONDS = 86_400;

let payouts: TestPayouts;
let operators: Pool;
let deciders: Pool; // with another login
let dewi: OperatorActor;
let budi: OperatorActor;

beforeAll(async () => {
  payouts = await createTestPayouts();
  operators = createPool(payouts.database.urlOf('lunas_local_operator'), { max: 8 });
  deciders = createPool(await urlOfOperator(payouts.database, 'budi'), { max: 8 });
  await setEnvironment(payouts.db, 'production');
  [dewi, budi] = [await addOperator('dewi'), await addOperator('budi')];
});
beforeEach(async () => {
  await setEnvironment(payouts.db, 'sandbox');
  payouts = await withNewMerchant(payouts);
  await setEnvironment(payouts.db, 'production');
  await addLines(payouts, [100_000, 200_000]);
});
afterAll(async () => {
  await Promise.all([operators.end(), deciders.end()]);
  await payouts.close();
});

async function addOperator(name: string): Promise<OperatorActor> {
  const { id } = await createOperatorWithLogin(payouts.database, payouts.db, name);
  await payouts.db.query("update operators set created_at = now() - interval '1 day' where id = $1", [id]);
  return operatorOf({ id, name });
}

const dependencies = () => ({ db: operators, log: SILENT, workflows: { payouts: writersAsWorkflows(payouts) } });
const on = (payout: string, note: string) => ({ path: { payout }, input: {}, formId: randomUUID(), note });
const approveBy = async (actor: OperatorActor, payout: string) =>
  requireDone(await approvePayout.run(dependencies(), actor, on(payout, 'call')));

/** @param resolution null: the payout is sent again */
async function settleBy(actor: OperatorActor, payout: string, resolution: PayoutResolution | null) {
  const call = on(payout, 'ticket 7');
  if (resolution === null) return requireDone(await resendPayout.run(dependencies(), actor, call));
  const input = { resolution, evidence: 'line 12 of the bank statement' };
  return requireDone(await resolvePayout.run(dependencies(), actor, { ...call, input }));
}

const executors = (): Executors => ({
  db: deciders,
  log: SILENT,
  ...NOTHING_TO_SEAL,
  withWorkflows: (work) => work({ ...NO_WORKFLOWS, payouts: writersAsWorkflows(payouts) }),
});
const decide = (actor: OperatorActor, approvalId: number) => approve(executors(), actor, approvalId);

/** @returns the id of the request */
async function requested(work: Promise<unknown>): Promise<number> {
  await expect(work).rejects.toMatchObject({ reason: 'approval_required' });
  return (await listApprovals(operators, { onlyOpen: true, limit: 1 }))[0]?.id ?? 0;
}

const stateOf = async (payoutId: string) => {
  const { status, version } = await findPayout(operators, null, payoutId);
  return [status, version];
};

it("an operator's payout is sent after a second operator, and the same key is the same payout", async () => {
  const create = () =>
    createByOperator(dependencies(), { merchantId: payouts.merchantId, key: 'k1', note: 'shop closes' }, dewi);
  const payout = await create();
  expect(payout).toMatchObject({ status: 'requested', approvalKind: 'operator', grossRupiah: 300_000 });
  expect(await create()).toEqual(payout);
  const approval = await requested(approveBy(dewi, payout.referenceId));
  expect((await listApprovals(operators, { onlyOpen: true, limit: 1 }))[0]).toMatchObject({
    action: 'payout.approve',
    target: `${payout.referenceId} to BCA •••• 7890`,
    amountRupiah: 297_500,
    parameters: { payout: payout.id },
    expectedVersion: 1,
  });
  await expect(decide(dewi, approval)).rejects.toThrow('another operator');
  expect(await stateOf(payout.id)).toEqual(['requested', 1]);
  expect(await decide(budi, approval)).toMatchObject({ status: 'executed', requestedBy: 'dewi', decidedBy: 'budi' });
  expect(await findPayout(operators, null, payout.id)).toMatchObject({
    status: 'approved',
    approvedBy: 'operator:budi',
  });
  const actions = await listActions(operators, { target: payout.id, limit: 9 });
  expect(actions[0]).toMatchObject({ action: 'payout.approve', actor: 'operator:budi', outcome: 'succeeded' });
  expect(actions[0]?.detail).toContain('requested by operator:dewi');
});

it('a payout that changed after the request is not approved', async () => {
  const { payoutId } = await applyPayout(payouts, [], { by: { name: 'cli:sari' } });
  const approval = await requested(approveBy(dewi, payoutId));
  const cancelled = await cancelPayout.run(dependencies(), budi, on(payoutId, 'wrong shop'));
  expect(requireDone(cancelled)).toMatchObject({ status: 'cancelled' });
  await expect(decide(budi, approval)).rejects.toMatchObject({ reason: 'superseded' });
  expect((await listApprovals(operators, { onlyOpen: false, limit: 1 }))[0]).toMatchObject({ status: 'failed' });
});

it.each([
  ['resend', ['approve', 'submit'], null, 'submitted'],
  ['resolve', ['approve', 'submit'], 'completed', 'completed'],
  ['resolve', ['approve', 'submit'], 'failed', 'failed'],
  ['resolve', ['approve', 'submit', 'complete'], 'returned', 'returned'],
  ['resolve', ['approve', 'submit', 'fail'], 'completed', 'completed'],
] as const)('%s of a payout after %p needs two operators (%s)', async (_action, path, resolution, status) => {
  const { payoutId: payout } = await applyPayout(payouts, path, { by: { name: 'schedule' } });
  const before = await stateOf(payout);
  await expect(settleBy(osUser('sari'), payout, resolution)).rejects.toMatchObject({ reason: 'operator_key_required' });
  const approval = await requested(settleBy(dewi, payout, resolution));
  expect(await stateOf(payout)).toEqual(before);
  expect(await decide(budi, approval)).toMatchObject({ status: 'executed' });
  expect(await stateOf(payout)).toEqual([status, path.length + 2]);
});

it('an approval whose outcome was not recorded is repeated, and does not fail', async () => {
  const { payoutId: payout } = await applyPayout(payouts, ['approve', 'submit'], { by: { name: 'schedule' } });
  const id = await requested(settleBy(dewi, payout, 'completed'));
  const lost = new Error('connection lost');
  const losing: Executors = {
    ...executors(),
    async withWorkflows(work) {
      await executors().withWorkflows(work);
      throw lost;
    },
  };
  await expect(approve(losing, budi, id)).rejects.toBe(lost);
  expect(await stateOf(payout)).toEqual(['completed', 4]);
  await payouts.db.query('update approvals set leased_until = now() where id = $1', [id]);
  expect(await decide(budi, id)).toMatchObject({ status: 'executed' });
  expect(await stateOf(payout)).toEqual(['completed', 4]);
});

it.each([
  ['approve', approvePayout, [], 'approved'],
  ['cancel', cancelPayout, [], 'cancelled'],
] as const)(
  '%s that was executed after the operator had no response is repeated',
  async (_name, operation, path, status) => {
    await setEnvironment(payouts.db, 'sandbox');
    const { payoutId } = await applyPayout(payouts, path, { by: { name: 'cli:sari' } });
    const run = (actor: OperatorActor, input: { version?: number } = {}) =>
      operation.run(dependencies(), actor, { ...on(payoutId, 'ticket 7'), input });
    expect(await run(dewi)).toMatchObject({ outcome: 'done', isRepeat: false });
    expect(await run(dewi)).toMatchObject({ outcome: 'done', isRepeat: true, value: { status } });
    // Another operator did not do it, and one who names a version has seen a page.
    expect(await run(budi)).toMatchObject({ outcome: 'rejected', rejection: { reason: 'wrong_status' } });
    expect(await run(dewi, { version: 1 })).toMatchObject({ outcome: 'rejected', rejection: { reason: 'superseded' } });
  },
);

it('an action that is not possible is rejected before a second operator sees it', async () => {
  const { payoutId: payout } = await applyPayout(payouts, [], { by: { name: 'schedule' } });
  const waiting = await listApprovals(operators, { onlyOpen: true, limit: 9 });
  await expect(settleBy(dewi, payout, null)).rejects.toThrow('cannot be sent again');
  await expect(approveBy(dewi, payout)).rejects.toThrow('Lunas approves this payout itself');
  expect(await listApprovals(operators, { onlyOpen: true, limit: 9 })).toEqual(waiting);
  // As every act that its object does not allow.
  expect(await listActions(operators, { target: payout, limit: 1 })).toEqual([]);
  await applyPayoutTransition(payouts, 'cancel_request', { payoutId: payout, version: 1 });
});

const call = { path: {}, input: {}, formId: randomUUID() };
const stop = async (note: string) => requireDone(await stopPayouts.run(dependencies(), budi, { ...call, note }));
const start = async () =>
  requireDone(await startPayouts.run(dependencies(), dewi, { ...call, note: 'the bank is ready' }));

it('one operator stops payouts, and two start them: those that the requester has seen', async () => {
  await expect(start()).rejects.toMatchObject({ reason: 'not_allowed' });
  await stop('breach at the bank');
  const create = createByOperator(dependencies(), { merchantId: payouts.merchantId, key: 'stopped' }, dewi);
  await expect(create).rejects.toThrow('an operator to start payouts again');
  const [first, stopped] = [await requested(start()), await findPayoutStop(operators)];
  expect(stopped).toMatchObject({ stoppedBy: 'operator:budi', note: 'breach at the bank' });
  expect(await decide(budi, first)).toMatchObject({ status: 'executed' });
  expect(await findPayoutStop(operators)).toBeNull();
  await stop('another breach');
  const outdated = await requested(start());
  // The second reason is one that the requester of the start has not seen.
  await stop('an insider');
  await expect(decide(budi, outdated)).rejects.toThrow('were stopped again since');
  expect(await findPayoutStop(operators)).toMatchObject({ note: 'an insider' });
  expect(await decide(budi, await requested(start()))).toMatchObject({ status: 'executed' });
});

it('a stop that is committed while payouts are started is not ended', async () => {
  await stop('the bank is slow');
  const id = await requested(start());
  const { started } = await inTransaction(operators, async (client) => {
    const insert =
      "insert into payout_stops (is_stopped, changed_by, note) values (true, 'operator:budi', 'an insider')";
    await client.query(insert);
    const started = decide(budi, id).then(
      () => 'started',
      ({ message }: Error) => message,
    );
    const isWaiting = "select from pg_locks where locktype = 'advisory' and not granted";
    await eventually(
      () => payouts.db.query(isWaiting),
      ({ rowCount }) => rowCount !== 0,
    );
    return { started };
  });
  expect(await started).toContain('were stopped again since');
  expect(await findPayoutStop(operators)).toMatchObject({ note: 'an insider' });
  const next = await requested(start());
  expect(await decide(budi, next)).toMatchObject({ status: 'executed' });
});

it('two operators change the limits, and neither shortens a day', async () => {
  const set = async ({ day, cooldown = DAY_SECONDS }: { readonly day?: number; readonly cooldown?: number }) => {
    const input = { day_limit_rupiah: day, cooldown_seconds: cooldown, not_found_seconds: undefined };
    return requireDone(await setPayoutLimits.run(dependencies(), dewi, { ...call, input, note: 'contract 12' }));
  };
  await expect(set({ cooldown: DAY_SECONDS - 1 })).rejects.toThrow('at least a day');
  const [older, newer] = [await requested(set({ day: 5_000 })), await requested(set({ day: 7_000 }))];
  expect(await decide(budi, newer)).toMatchObject({ status: 'executed' });
  expect(await getPayoutLimits(operators)).toEqual({
    cooldown_seconds: DAY_SECONDS,
    not_found_seconds: DAY_SECONDS,
    day_limit_rupiah: 7_000,
  });
  await expect(decide(budi, older)).rejects.toMatchObject({ reason: 'superseded' });
  await requested(set({ day: 100_000_000 })).then((id) => decide(budi, id));
});

it('two operators change a policy, and an older request does not replace a newer version', async () => {
  const set = async (input: Parameters<typeof setPayoutPolicy.run>[2]['input']) => {
    const change = { ...call, path: { rail: 'skn' }, input, note: 'contract 12' } as const;
    return requireDone(await setPayoutPolicy.run(dependencies(), dewi, change));
  };
  const setFee = (fee: number) => set({ fee_rupiah: fee, closes_at: '15:00:00' });
  const [older, newer] = [await requested(setFee(1)), await requested(setFee(2))];
  expect(await decide(budi, newer)).toMatchObject({ status: 'executed' });
  expect((await listPayoutPolicies(operators)).find(({ rail }) => rail === 'skn')).toMatchObject({
    version: 2,
    fee_rupiah: 2,
    closes_at: '15:00:00',
    days: 'working',
  });
  await expect(decide(budi, older)).rejects.toMatchObject({ reason: 'superseded' });
  await expect(set({ max_rupiah: 1 })).rejects.toThrow('below the least one');
});
