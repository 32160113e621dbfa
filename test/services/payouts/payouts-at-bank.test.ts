import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { SdkFlags } from '@temporalio/workflow/lib/flags';
import { z } from 'zod';
import { submitPayout } from '../../../activities/payout';
import { renderPayout } from '../../../src/cli/render-payout';
import { createSealer } from '../../../src/crypto/sealing';
import { findRecordedPayout, listReleasedPayouts, type RecordedPayout } from '../../../src/db/queries/find-payout';
import { storePayoutNotification } from '../../../src/db/records/notification-inbox';
import { openException } from '../../../src/db/records/open-exception';
import { beginRecovery, endRecovery } from '../../../src/db/records/recovery-mode';
import { payoutWriters } from '../../../src/db/transitions/payout-transitions';
import type { StepActor } from '../../../src/domain/actor';
import type { PayoutAction } from '../../../src/domain/payout-actions';
import type { ScheduledPayoutsPart } from '../../../src/domain/payout-schedule';
import type { PayoutRequestInput } from '../../../src/domain/payout-step';
import { ORPHANED_PAYOUT } from '../../../src/domain/reconciliation';
import { dayInWib } from '../../../src/domain/wib';
import { forEachConcurrent } from '../../../src/lib/for-each-concurrent';
import type { FaultKind } from '../../../src/sandbox/faults';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { changeHold } from '../../../src/services/merchants/merchants';
import { previewPayout } from '../../../src/services/payouts/payouts';
import { requestScheduledPayouts } from '../../../src/services/payouts/scheduled-payouts';
import { showPayout } from '../../../src/services/payouts/show-payout';
import { holdLostPayouts } from '../../../src/services/recovery/hold-lost-payouts';
import { recover, type Recovery } from '../../../src/services/recovery/recover';
import { seedPayouts } from '../../../src/services/sandbox/seed-payouts';
import { PAYOUTS_TASK_QUEUE, payoutWorkflowId } from '../../../workflows/messages';
import { requestScheduledPayouts as runOfDay } from '../../../workflows/scheduled-payouts';
import { newPayoutReference } from '../../sandbox/bank/bank-under-test';
import { activityDependencies } from '../../support/activity-dependencies';
import { asSuperuser } from '../../support/backdate';
import { prepareBankAccount } from '../../support/bank-accounts';
import { SILENT } from '../../support/collect-log';
import { eventually } from '../../support/eventually';
import { recordHistory } from '../../support/history';
import { newTerms } from '../../support/payments';
import { createMember, createShop } from '../../support/people';
import { reconcile } from '../../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';
import { FakeAcquirer } from '../../workflows/model/fake-acquirer';
import { applyTransitions } from '../ledger/transition-path';

const DAY_MS = 86_400_000;
/** Who are due in the daily run. */
const MERCHANTS = 100;
const ORDINARY = '1234567890';
/** Responses of the bank that are lost, of each kind. */
const LOST_RESPONSES = bySize({ small: 1, full: 1_000 });
/** A call without a response takes long. */
const LOST_AFTER_EXECUTION = bySize<readonly FaultKind[]>({
  small: ['accept_then_reset', 'half_body'],
  full: ['accept_then_reset', 'half_body', 'accept_then_timeout'],
});
const LOST_BEFORE_EXECUTION = bySize<readonly FaultKind[]>({
  small: ['http_500'],
  full: ['http_500', 'reset', 'timeout'],
});
const CONCURRENT_PAYOUTS = 25;
/** Copies of one notification of the bank. */
const COPIES = bySize({ small: 12, full: 1_000 });
const FULL_TIMEOUT_MS = bySize({ small: 90_000, full: 3_600_000 });
const [NET_RUPIAH, FEE_RUPIAH] = [252_500, 2_500];
const BI_FAST = { rail: 'bi_fast', payoutPolicyId: 1 } as const;
/** What a requester has seen before the balance changed. */
const ANOTHER_BALANCE = { grossRupiah: NET_RUPIAH + 1_000, amountRupiah: NET_RUPIAH - FEE_RUPIAH + 1_000 } as const;
const OPERATOR = { name: 'cli:sari', note: 'ticket 12 of the bank' } as const;

let service: TestService;
let policyId: string;
let acquirerAccountId: string;
let payoutsAccountId: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const { db, masterKey, sandboxUrl } = service;
  await seedPayouts({ db, sealer: createSealer(masterKey), sandboxUrl, apiUrl: service.apiUrl });
  await db.query(
    `insert into payout_limits (cooldown_seconds, not_found_seconds, replaces_id)
     select 0, 0, max(id) from payout_limits`,
  );
  const idOf = async (text: string): Promise<string> => (await db.query<{ id: string }>(text)).rows[0]?.id ?? '';
  policyId = await idOf(`select id from policies where provider = 'gopay' limit 1`);
  acquirerAccountId = await idOf(`select id from provider_accounts where provider = 'gopay' limit 1`);
  payoutsAccountId = await idOf(`select id from provider_accounts where purpose = 'payouts'`);
});
afterAll(() => service.close());

interface Payout {
  readonly payoutId: string;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly bankAccountId: string;
  /** The member who requested it. */
  readonly user: string;
}

/** @param callsPerSecond the next slot is so late that a call is not made; null: no limit */
async function limitCalls(callsPerSecond: number | null): Promise<void> {
  await service.db.query('update provider_accounts set calls_per_second = $2 where id = $1', [
    payoutsAccountId,
    callsPerSecond,
  ]);
  await service.db.query('delete from provider_call_schedules where provider_account_id = $1', [payoutsAccountId]);
  if (callsPerSecond === null) return;
  await service.db.query(
    `insert into provider_call_schedules (provider_account_id, next_call_at)
     values ($1, clock_timestamp() + interval '2500 milliseconds')`,
    [payoutsAccountId],
  );
}

/** Settles a payment of the merchant. */
async function settle(merchantId: string): Promise<void> {
  const { db, context } = service;
  const terms = { merchantId, policyId, providerAccountId: acquirerAccountId };
  const amounts = { amountRupiah: NET_RUPIAH, totalRupiah: NET_RUPIAH, netRupiah: NET_RUPIAH, feeRupiah: 0 };
  const ledger = {
    db,
    context,
    merchantId,
    newTerms: (changes = {}) => newTerms({ ...terms, ...changes }),
    close: () => Promise.resolve(),
  };
  await applyTransitions(ledger, ['issue', 'pay', 'settle'], amounts);
}

/** A merchant with a balance of one settled payment, and a bank account of this number. */
async function newShop(number: string): Promise<Payout> {
  const { db } = service;
  const { id: merchantId } = await createShop(db);
  const bankAccountId = await prepareBankAccount(service, merchantId, 'active', number);
  await settle(merchantId);
  const user = await createMember(db, `${randomUUID()}@shop.test`, [[merchantId, 'owner']]);
  return { payoutId: randomUUID(), merchantId, bankAccountId, user, referenceId: newPayoutReference() };
}

/** A payout of the whole balance. */
async function request(payout: Payout, changes: Partial<PayoutRequestInput> = {}) {
  const { payoutId, merchantId, referenceId, bankAccountId, user } = payout;
  const { rows } = await service.db.query<{ last: number }>(
    'select max(posting_id) as last from balance_transactions where merchant_id = $1',
    [merchantId],
  );
  return service.workflows.payouts.request({
    payoutId,
    merchantId,
    referenceId,
    bankAccountId,
    providerAccountId: payoutsAccountId,
    grossRupiah: NET_RUPIAH,
    feeRupiah: FEE_RUPIAH,
    amountRupiah: NET_RUPIAH - FEE_RUPIAH,
    ...BI_FAST,
    upToPostingId: rows[0]?.last ?? 0,
    by: { name: `user:${user}` },
    ...changes,
  });
}

async function requested(number: string): Promise<Payout> {
  const payout = await newShop(number);
  expect(await request(payout)).toMatchObject({ outcome: 'requested', state: { status: 'requested', version: 1 } });
  return payout;
}

async function rowOf({ payoutId }: Payout) {
  const { rows } = await service.db.query(
    `select status, version, send_count, send_outcome, failure_kind, is_manual,
       (select array_agg(name order by version) from payout_transitions where payout_id = payouts.id) as names
     from payouts where id = $1`,
    [payoutId],
  );
  return rows[0];
}

async function recordedOf({ payoutId }: Payout): Promise<RecordedPayout> {
  const recorded = await findRecordedPayout(service.db, payoutId);
  if (!recorded) throw new Error('The payout has no row');
  return recorded;
}

/** The bank's notification leads there, or else the next status query. */
function waitFor(payout: Payout, status: string) {
  return eventually(
    () => rowOf(payout),
    (row) => row.status === status,
  );
}

/** The same without a notification of the bank, and without waiting for the next query. */
function askUntil(payout: Payout, status: string) {
  return eventually(
    async () => {
      const row = await rowOf(payout);
      if (row.status === 'submitted') await service.workflows.payouts.notify(payout);
      return row;
    },
    (row) => row.status === status,
  );
}

const transfersSchema = z.object({
  transfers: z.array(
    z.object({
      partner_reference_no: z.string(),
      send_calls: z.number(),
      amount_rupiah: z.number(),
      account_number: z.string(),
      executions: z.array(z.object({ direction: z.string() })),
    }),
  ),
});

/** What the bank has of these payouts; undefined: nothing. */
async function listAtBank(payouts: readonly Payout[]) {
  const response = await fetch(`${service.sandboxUrl}/simulator/transfers`);
  const { transfers } = transfersSchema.parse(await response.json());
  return payouts.map(({ referenceId }) => transfers.find((found) => found.partner_reference_no === referenceId));
}

const atBank = async (payout: Payout) => (await listAtBank([payout]))[0];

const directionsOf = async (payout: Payout) =>
  (await atBank(payout))?.executions.map(({ direction }) => direction) ?? [];

async function balanceOf({ merchantId }: Payout): Promise<number> {
  const { rows } = await service.db.query<{ rupiah: number }>(
    `select sum(amount_rupiah)::bigint as rupiah from balance_transactions
     where merchant_id = $1 and payout_id is null`,
    [merchantId],
  );
  return rows[0]?.rupiah ?? 0;
}

async function exceptionsOf({ referenceId }: Payout): Promise<string[]> {
  const { rows } = await service.db.query<{ kind: string }>('select kind from exceptions where reference_id = $1', [
    referenceId,
  ]);
  return rows.map(({ kind }) => kind);
}

const statusOf = ({ payoutId }: Payout) => service.workflows.payouts.queryStatus(payoutId);

/** The row may have a version that its workflow does not know yet: then the request is repeated. */
function perform(payout: Payout, action: PayoutAction, actor: StepActor = OPERATOR) {
  return eventually(
    async () => service.workflows.payouts.perform({ ...payout, version: (await rowOf(payout)).version }, action, actor),
    ({ outcome }) => outcome !== 'outdated',
  );
}

it('is completed with one call to the bank and one execution, and its history is short', async () => {
  const payout = await requested(ORDINARY);
  const completed = await waitFor(payout, 'completed');
  const names = ['request', 'approve', 'submit', 'complete'];
  expect(completed).toMatchObject({ names, send_count: 1, send_outcome: 'accepted' });
  expect(await atBank(payout)).toMatchObject({ send_calls: 1, amount_rupiah: 250_000, account_number: ORDINARY });
  expect(await directionsOf(payout)).toEqual(['out']);
  expect(await balanceOf(payout)).toBe(0);
  const handle = service.client.workflow.getHandle(payoutWorkflowId(payout.payoutId));
  expect(await handle.result()).toBe('completed');
  const { historyLength, searchAttributes } = await handle.describe();
  expect(historyLength).toBeLessThanOrEqual(30);
  expect(searchAttributes).toMatchObject({ PayoutStatus: ['completed'], ReferenceId: [payout.referenceId] });
  const { events } = await handle.fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const flags = firstTask?.workflowTaskCompletedEventAttributes?.sdkMetadata?.langUsedFlags;
  expect(flags).toContain(SdkFlags.ProcessWorkflowActivationJobsAsSingleBatch.id);
  await recordHistory(service.client, payoutWorkflowId(payout.payoutId), 'payout-completed');
});

describe("the bank's status for an operator", () => {
  it('is what the bank reports now, and nothing is recorded', async () => {
    const payout = await requested(ORDINARY);
    const { names } = await waitFor(payout, 'completed');
    const details = await showPayout(service.db, service.workflows.payouts, payout.referenceId);
    expect(details.bank).toMatchObject({ outcome: 'found', status: 'completed', amountRupiah: 250_000 });
    expect(renderPayout(details)).toMatch(/Bank's status now +completed, Rp 250\.000 to •••• 7890/);
    expect(await rowOf(payout)).toMatchObject({ names });
    await recordHistory(service.client, await firstWorkflowOf('bankStatus'), 'bank-status');
  });

  it('of the payout of another merchant is not asked for', async () => {
    const { payoutId } = await requested('9900000020');
    const another = { payoutId, merchantId: randomUUID() };
    await expect(service.workflows.payouts.readBankStatus(another)).rejects.toBeInstanceOf(Error);
  });
});

/** Visibility lists it some time after its start. @returns its id */
async function firstWorkflowOf(type: string): Promise<string> {
  const found = await eventually(
    async () => {
      for await (const { workflowId } of service.client.workflow.list({ query: `WorkflowType = '${type}'` }))
        return workflowId;
      return undefined;
    },
    (id) => id !== undefined,
  );
  return found ?? '';
}

it('the same request gets the payout that exists, and one of a balance that is claimed is rejected', async () => {
  const payout = await requested('9900000020');
  expect(await request(payout)).toMatchObject({ outcome: 'requested' });
  expect(await request({ ...payout, payoutId: randomUUID(), referenceId: newPayoutReference() })).toEqual({
    outcome: 'rejected',
  });
  await waitFor(payout, 'submitted');
});

it('a request that was rejected is repeated with the balance of now', async () => {
  const payout = await newShop('9900000020');
  expect(await request(payout, ANOTHER_BALANCE)).toEqual({ outcome: 'rejected' });
  expect(await request(payout)).toMatchObject({ outcome: 'requested' });
  await waitFor(payout, 'submitted');
});

describe('a call whose response is lost', () => {
  /** Sends a payout for each armed fault, and checks each. @returns what the bank has of them */
  async function sendLosing(check: (payout: Payout) => Promise<void>) {
    const sent: Payout[] = [];
    await forEachConcurrent(Array(LOST_RESPONSES).fill(ORDINARY), CONCURRENT_PAYOUTS, async (number) => {
      const payout = await requested(number);
      sent.push(payout);
      await check(payout);
    });
    return listAtBank(sent);
  }

  it.each([...LOST_AFTER_EXECUTION])(
    'after the execution (%s): the payout is found and completed, with one call and one execution',
    async (kind) => {
      await service.injectFault('transfer', kind, LOST_RESPONSES);
      const sent = await sendLosing(async (payout) => {
        expect(await waitFor(payout, 'completed')).toMatchObject({
          names: ['request', 'approve', 'submit', 'complete'],
          send_count: 1,
          send_outcome: 'indeterminate',
        });
      });
      for (const transfer of sent) {
        expect(transfer).toMatchObject({ send_calls: 1, executions: [{ direction: 'out' }] });
      }
    },
    FULL_TIMEOUT_MS,
  );

  it.each([...LOST_BEFORE_EXECUTION])(
    'before the execution (%s): the payout is neither sent again nor failed',
    async (kind) => {
      await service.injectFault('transfer', kind, LOST_RESPONSES);
      const sent = await sendLosing(async (payout) => {
        await eventually(
          () => rowOf(payout),
          ({ send_outcome }) => send_outcome === 'indeterminate',
        );
        await service.workflows.payouts.notify(payout);
        await eventually(
          () => statusOf(payout),
          (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
        );
        expect(await rowOf(payout)).toMatchObject({ status: 'submitted', send_count: 1 });
      });
      expect(sent).toEqual(Array(LOST_RESPONSES).fill(undefined));
    },
    FULL_TIMEOUT_MS,
  );

  it('before the execution: it never fails by itself, and an operator can send it again', async () => {
    await service.injectFault('transfer', 'reset');
    const payout = await requested(ORDINARY);
    await waitFor(payout, 'submitted');
    await service.workflows.payouts.notify(payout);
    await eventually(
      () => statusOf(payout),
      (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
    );
    expect(await atBank(payout)).toBeUndefined();
    const { bank } = await showPayout(service.db, service.workflows.payouts, payout.payoutId);
    expect(bank).toEqual({ outcome: 'not_found' });
    await changeHold(service.db, payout.merchantId, true);
    expect(await perform(payout, 'resend')).toEqual({
      outcome: 'rejected',
      reason: 'Not now: it waits for an operator to release the merchant.',
    });
    await changeHold(service.db, payout.merchantId, false);
    expect(await perform(payout, 'resend')).toMatchObject({ outcome: 'done', state: { status: 'submitted' } });
    expect(await waitFor(payout, 'completed')).toMatchObject({ send_count: 2, send_outcome: 'accepted' });
    expect(await directionsOf(payout)).toEqual(['out']);
    expect(await perform(payout, 'resend')).toMatchObject({ outcome: 'rejected' });
  });

  it('its permission is not used up while the rate of calls is', async () => {
    await limitCalls(1);
    const payout = await requested(ORDINARY);
    expect(await waitFor(payout, 'completed')).toMatchObject({ send_count: 1, send_outcome: 'accepted' });
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
    await limitCalls(null);
  });

  it('a payout that the bank has is not sent again', async () => {
    const payout = await requested('9900000020');
    await waitFor(payout, 'submitted');
    await eventually(() => atBank(payout), Boolean);
    expect(await perform(payout, 'resend')).toEqual({
      outcome: 'rejected',
      reason: 'The bank has the payout: it is pending.',
    });
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
  });
});

it.each([
  ['9900000050', 'account', []],
  ['9900000051', 'source_balance', ['payout_source_balance']],
  ['9900000052', 'cut_off', []],
] as const)(
  'account %s is rejected: the payout fails, and its money is available again',
  async (number, kind, kinds) => {
    const payout = await requested(number);
    expect(await askUntil(payout, 'failed')).toMatchObject({ failure_kind: kind, send_outcome: 'rejected' });
    expect(await balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await exceptionsOf(payout)).toEqual(kinds);
    const { rows } = await service.db.query('select status from bank_accounts where id = $1', [payout.bankAccountId]);
    expect(rows).toEqual([{ status: kind === 'account' ? 'suspended' : 'active' }]);
  },
);

describe('what the bank reports later', () => {
  it('a completed payout comes back: the amount is available again, and the fee is not', async () => {
    const payout = await requested('9900000030');
    await waitFor(payout, 'completed');
    expect(await waitFor(payout, 'returned')).toMatchObject({
      names: ['request', 'approve', 'submit', 'complete', 'return'],
    });
    expect(await directionsOf(payout)).toEqual(['out', 'back']);
    expect(await balanceOf(payout)).toBe(NET_RUPIAH - FEE_RUPIAH);
  });

  it('a failed payout is executed after all: its money has left the balance, and an exception is open', async () => {
    const payout = await requested('9900000031');
    await waitFor(payout, 'failed');
    await waitFor(payout, 'completed');
    expect(await directionsOf(payout)).toEqual(['out']);
    expect(await balanceOf(payout)).toBe(0);
    expect(await exceptionsOf(payout)).toEqual(['payout_conflict']);
  });

  it('another amount than was sent: no transition, and an exception', async () => {
    const payout = await requested('9900000080');
    await eventually(
      async () => {
        await service.workflows.payouts.notify(payout);
        return exceptionsOf(payout);
      },
      (kinds) => kinds.length > 0,
    );
    expect(await exceptionsOf(payout)).toEqual(['payout_amount']);
    expect(await rowOf(payout)).toMatchObject({ status: 'submitted' });
    expect(await perform(payout, 'resolveAsCompleted')).toMatchObject({ outcome: 'done' });
    expect(await rowOf(payout)).toMatchObject({ status: 'completed', is_manual: true });
  });
});

describe('before the bank has it', () => {
  async function deferred(): Promise<Payout> {
    const payout = await newShop(ORDINARY);
    const second = await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
    expect(await request(payout)).toMatchObject({ outcome: 'requested' });
    await changeHold(service.db, payout.merchantId, true);
    await perform(payout, 'approve', { name: `user:${second}` });
    await eventually(
      () => statusOf(payout),
      (status) => status?.waitingFor === 'an operator to release the merchant',
    );
    return payout;
  }

  it('a payout of a merchant on hold waits, and the release sends it', async () => {
    const payout = await deferred();
    expect(await statusOf(payout)).toMatchObject({ attentionReason: expect.stringContaining('release the merchant') });
    expect(await atBank(payout)).toBeUndefined();
    await service.stopWorker();
    await changeHold(service.db, payout.merchantId, false);
    // The sweeper looks when it starts, and then each 30 s. The timer of the workflow takes an hour.
    await service.startWorker();
    await waitFor(payout, 'completed');
    expect(await directionsOf(payout)).toEqual(['out']);
  });

  it('a payout whose rail is closed waits for its window', async () => {
    const isMorning = new Date(Date.now() + 7 * 3_600_000).getUTCHours() < 12;
    const { rows } = await service.db.query<{ id: number }>(
      `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
         expected_within_seconds, is_enabled)
       values ('skn', 2, ${FEE_RUPIAH}, 10000, $1, $2, 'every', 60, true) returning id`,
      isMorning ? ['20:00', '21:00'] : ['03:00', '04:00'],
    );
    const payout = await newShop(ORDINARY);
    expect(await request(payout, { rail: 'skn', payoutPolicyId: rows[0]?.id ?? 0 })).toMatchObject({
      outcome: 'requested',
    });
    const opens = new RegExp(`the window of its rail to open \\(until .*T${isMorning ? '13' : '20'}:00:00.000Z`);
    await eventually(
      () => statusOf(payout),
      (status) => opens.test(status?.waitingFor ?? ''),
    );
    expect(await atBank(payout)).toBeUndefined();
    const [{ terms, state }, opened] = [await recordedOf(payout), isMorning ? 13 : 20];
    const submit = submitPayout.checked.bind(
      null,
      activityDependencies(service.context, new FakeAcquirer(), { sealer: createSealer(service.masterKey) }),
    );
    const atMs = new Date().setUTCHours(opened, 30) - DAY_MS;
    expect(await new MockActivityEnvironment().run(submit, { terms, state, atMs })).toMatchObject({
      deferral: { obstacle: 'rail_closed' },
    });
    const released = await listReleasedPayouts(service.db, new Date());
    expect(released.map(({ payoutId }) => payoutId)).not.toContain(payout.payoutId);
    expect(await perform(payout, 'cancel')).toMatchObject({ outcome: 'done' });
  });

  it('a member cancels it: the money is available again', async () => {
    const payout = await deferred();
    expect(await perform(payout, 'cancel', { name: `user:${payout.user}` })).toMatchObject({ outcome: 'done' });
    expect(await rowOf(payout)).toMatchObject({ status: 'cancelled' });
    expect(await balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await atBank(payout)).toBeUndefined();
  });

  it('a submit that another attempt has recorded makes no call', async () => {
    const payout = await deferred();
    await changeHold(service.db, payout.merchantId, false);
    const { payoutId } = payout;
    const submit = { payoutId, version: 2, at: new Date(), makesCall: true };
    const submitted = await payoutWriters.submit(service.context, submit);
    expect(submitted.outcome).toBe('applied');
    await service.workflows.payouts.notify(payout);
    await eventually(
      () => statusOf(payout),
      (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
    );
    expect(await atBank(payout)).toBeUndefined();
    expect(await perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    expect(await balanceOf(payout)).toBe(NET_RUPIAH);
  });

  it('an amount that was changed by hand stops it', async () => {
    const payout = await deferred();
    await service.db.query('alter table payouts disable trigger terms_are_final');
    await service.db.query(
      'update payouts set amount_rupiah = amount_rupiah + 1, fee_rupiah = fee_rupiah - 1 where id = $1',
      [payout.payoutId],
    );
    await service.db.query('alter table payouts enable trigger terms_are_final');
    await changeHold(service.db, payout.merchantId, false);
    await service.workflows.payouts.notify(payout);
    const handle = service.client.workflow.getHandle(payoutWorkflowId(payout.payoutId));
    await expect(handle.result()).rejects.toThrow('failed');
    await service.workflows.payouts.notify(payout);
    await expect(service.client.workflow.getHandle(handle.workflowId).result()).rejects.toThrow('failed');
    expect(await atBank(payout)).toBeUndefined();
  });
});

describe('after a restore of PostgreSQL to before it was submitted', () => {
  /** The bank has it, PostgreSQL has not, and its merchant is on hold. */
  async function restored(): Promise<Payout> {
    const payout = await requested('9900000020');
    await eventually(() => atBank(payout), Boolean);
    await waitFor(payout, 'submitted');
    await changeHold(service.db, payout.merchantId, true);
    await asSuperuser(
      service.db,
      `delete from payout_events where payout_id = '${payout.payoutId}' and payout_version > 2`,
      `delete from payout_transitions where payout_id = '${payout.payoutId}' and version > 2`,
      `update payouts set status = 'approved', version = 2, send_count = 0, send_outcome = null, submitted_at = null,
         last_sent_at = null, bank_reference = null where id = '${payout.payoutId}'`,
    );
    return payout;
  }

  it('its workflow records that again, and looks at the bank', async () => {
    const payout = await restored();
    await service.workflows.payouts.notify(payout);
    expect(await waitFor(payout, 'submitted')).toMatchObject({ version: 3, send_outcome: null });
    expect(await perform(payout, 'cancel')).toMatchObject({ outcome: 'rejected' });
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
  });

  it('and no workflow has it: it is not cancelled, and it is not sent again', async () => {
    const payout = await restored();
    await service.client.workflow.getHandle(payoutWorkflowId(payout.payoutId)).terminate();
    await service.db.query("update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()");
    expect(await perform(payout, 'cancel')).toMatchObject({ outcome: 'rejected' });
    await waitFor(payout, 'submitted');
    expect(await perform(payout, 'resend')).toMatchObject({ outcome: 'rejected' });
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
  });

  it('that the bank does not know is not sent again: another payout may have paid its money', async () => {
    const payout = await requested('9900000041');
    await waitFor(payout, 'submitted');
    await service.db.query("update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()");
    await service.db.query('update recovery_mode set begun_at = null, begun_by = null, reason = null');
    await service.workflows.payouts.notify(payout);
    await eventually(
      () => statusOf(payout),
      (status) => status?.attentionReason?.includes('not sent any more') ?? false,
    );
    const reason = expect.stringContaining('older than a restore');
    expect(await perform(payout, 'resend')).toEqual({ outcome: 'rejected', reason });
    const resend = { payoutId: payout.payoutId, version: 3, at: new Date(), by: OPERATOR };
    expect(await payoutWriters.resend(service.context, resend)).toMatchObject({ outcome: 'deferred' });
    expect(await perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    expect(await balanceOf(payout)).toBe(NET_RUPIAH);
  });

  it('and waits for an approval: it is not cancelled, and goes on without one, because the bank is asked', async () => {
    const payout = await newShop(ORDINARY);
    await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
    expect(await request(payout)).toMatchObject({ state: { status: 'requested' } });
    await service.db.query("update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()");
    await service.db.query('update recovery_mode set begun_at = null, begun_by = null, reason = null');
    const cancel = await perform(payout, 'cancel', { name: `user:${payout.user}` });
    expect(cancel).toMatchObject({ outcome: 'rejected', reason: expect.stringContaining('before the bank is asked') });
    const row = await waitFor(payout, 'submitted');
    expect(row).toMatchObject({ version: 3, send_count: 1, send_outcome: null });
    expect(await atBank(payout)).toBeUndefined();
  });
});

describe('lunas recover', () => {
  const runRecovery = () => recover(service.operatorContext, service.workflows, { startedSince: new Date(0) });
  const workflowOf = ({ payoutId }: Payout) => service.client.workflow.getHandle(payoutWorkflowId(payoutId));
  const referenceFailures = ({ failures }: Recovery, { payoutId }: Payout) =>
    failures.filter(({ id }) => id === payoutId);

  async function pendingAtBank(): Promise<Payout> {
    const payout = await requested('9900000020');
    await waitFor(payout, 'submitted');
    await eventually(() => atBank(payout), Boolean);
    await eventually(
      () => service.workflows.payouts.records.describe(payout.payoutId),
      (workflow) => workflow?.status === 'submitted',
    );
    return payout;
  }

  /** A restore of PostgreSQL to before the request. The lines of its balance are still there. */
  async function loseRow({ payoutId }: Payout): Promise<void> {
    const ofPayout = `payout_id = '${payoutId}'`;
    await asSuperuser(
      service.db,
      'begin',
      `delete from balance_transactions where source_${ofPayout}`,
      `update balance_transactions set payout_id = null where ${ofPayout}`,
      `delete from ledger_entries where posting_id in (select id from ledger_postings where ${ofPayout})`,
      ...['ledger_postings', 'payout_events', 'payout_transitions'].map(
        (table) => `delete from ${table} where ${ofPayout}`,
      ),
      `delete from payouts where id = '${payoutId}'`,
      'commit',
    );
    await eventually(
      async () => {
        const page = await service.workflows.payouts.records.list(new Date(0), new Date(), null);
        return page.items.map((workflow) => workflow.payoutId);
      },
      (ids) => ids.includes(payoutId),
    );
  }

  const completeAtBank = ({ referenceId }: Payout) =>
    fetch(`${service.sandboxUrl}/simulator/transfers/${referenceId}/complete`, { method: 'POST' });

  it('starts the workflow of an open payout again: it looks at the bank, and sends nothing', async () => {
    const payout = await pendingAtBank();
    await workflowOf(payout).terminate();
    expect((await runRecovery()).payouts.rebuilt).toBeGreaterThanOrEqual(1);
    expect((await runRecovery()).payouts.rebuilt).toBe(0);
    await completeAtBank(payout);
    await askUntil(payout, 'completed');
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
  });

  it('signals the running workflow of a payout that rests', async () => {
    const payout = await pendingAtBank();
    const { state } = await recordedOf(payout);
    const { payoutId } = payout;
    await payoutWriters.complete(service.context, { ...state, payoutId, at: new Date(), bankReference: null });
    expect((await runRecovery()).payoutRows.notified).toBeGreaterThanOrEqual(1);
    expect(await workflowOf(payout).result()).toBe('completed');
  });

  it.each([
    ['that is open', '9900000020'],
    ['that has been completed', ORDINARY],
  ])('writes a payout %s again: it claims no lines, and is not sent', async (_, number) => {
    const payout = await (number === ORDINARY ? requested(number) : pendingAtBank());
    if (number === ORDINARY) {
      await waitFor(payout, 'completed');
      await workflowOf(payout).result();
    }
    await loseRow(payout);
    expect(await balanceOf(payout)).toBe(NET_RUPIAH);
    const recovery = await runRecovery();
    expect(referenceFailures(recovery, payout)).toEqual([]);
    expect(recovery.payoutRows.rebuilt).toBe(1);
    if (number !== ORDINARY) await completeAtBank(payout);
    expect(await askUntil(payout, 'completed')).toMatchObject({ send_count: 1, send_outcome: null });
    expect(await balanceOf(payout)).toBe(0);
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
    expect(await directionsOf(payout)).toEqual(['out']);
    const { breaks } = await verifyLedger(service.db, { all: true });
    expect(breaks.filter(({ detail }) => detail.includes(payout.payoutId))).toEqual([]);
    expect((await runRecovery()).payoutRows.rebuilt).toBe(0);
  });

  it('writes a payout again that is lost twice, as it was requested', async () => {
    const payout = await requested(ORDINARY);
    for (const isRejectedMeanwhile of [true, false]) {
      await waitFor(payout, 'completed');
      await workflowOf(payout).result();
      await loseRow(payout);
      if (isRejectedMeanwhile) await request(payout, ANOTHER_BALANCE);
      const recovery = await runRecovery();
      expect(referenceFailures(recovery, payout)).toEqual([]);
      expect(recovery.payoutRows.rebuilt).toBe(1);
      expect(await recordedOf(payout)).toMatchObject({ terms: { grossRupiah: NET_RUPIAH } });
    }
  });

  it('a payout that the bank has never had is written again, and an operator resolves it as failed', async () => {
    await service.injectFault('transfer', 'reset');
    const payout = await requested(ORDINARY);
    await waitFor(payout, 'submitted');
    await loseRow(payout);
    await runRecovery();
    await eventually(
      () => statusOf(payout),
      (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
    );
    expect(await perform(payout, 'cancel')).toMatchObject({ outcome: 'rejected' });
    expect(await perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    expect(await balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await atBank(payout)).toBeUndefined();
  });

  it('writes a payout again whose policy and payouts account are lost too, with those in force', async () => {
    const [providerAccountId, payoutPolicyId] = [randomUUID(), 1_000];
    await asSuperuser(
      service.db,
      `update provider_accounts set status = 'disabled' where id = '${payoutsAccountId}'`,
      `insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key, sealed_credentials)
       values ('${providerAccountId}', 'payouts', 'snap-midtrans', 'http://127.0.0.1:9', 'none', 'none')`,
      `insert into payout_policies (id, rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
         expected_within_seconds, is_enabled) overriding system value
       values (${payoutPolicyId}, 'bi_fast', 2, ${FEE_RUPIAH}, 10000, '00:00', '24:00', 'every', 60, true)`,
    );
    const payout = await newShop(ORDINARY);
    const result = await request(payout, { providerAccountId, payoutPolicyId });
    await waitFor(payout, 'approved');
    await asSuperuser(
      service.db,
      `delete from payout_policies where id = ${payoutPolicyId}`,
      `delete from provider_accounts where id = '${providerAccountId}'`,
      `update provider_accounts set status = 'enabled' where id = '${payoutsAccountId}'`,
    );
    expect(result).toMatchObject({ outcome: 'requested' });
    await loseRow(payout);
    expect(referenceFailures(await runRecovery(), payout)).toEqual([]);
    const terms = { providerAccountId: payoutsAccountId, grossRupiah: NET_RUPIAH };
    expect(await recordedOf(payout)).toMatchObject({ terms, state: { status: 'submitted' } });
  });

  it('a payout whose bank account is lost too: its merchant is on hold, and an exception has the amount', async () => {
    const payout = await requested(ORDINARY);
    await waitFor(payout, 'completed');
    await workflowOf(payout).result();
    await loseRow(payout);
    const { payoutId, referenceId, merchantId, bankAccountId } = payout;
    await asSuperuser(
      service.db,
      `delete from bank_account_transitions where bank_account_id = '${bankAccountId}'`,
      `delete from bank_accounts where id = '${bankAccountId}'`,
    );
    await prepareBankAccount(service, merchantId, 'active', ORDINARY);
    const recovery = await runRecovery();
    expect(recovery.lostPayouts).toEqual([payoutId]);
    expect(referenceFailures(recovery, payout)).toMatchObject([{ reason: expect.stringContaining('bank account') }]);
    const actor = { kind: 'os_user', name: 'sari', door: 'cli' } as const;
    const { held, failures } = await holdLostPayouts(service, actor, recovery.lostPayouts);
    expect(failures).toEqual([]);
    expect(held).toEqual([{ payoutId, referenceId, merchantId, grossRupiah: NET_RUPIAH }]);
    expect(await previewPayout(service.db, merchantId, new Date())).toEqual({
      outcome: 'rejected',
      rejection: { code: 'merchant_on_hold' },
    });
    const { rows } = await service.db.query(
      `select kind, amount_rupiah, (select count(*)::integer from operator_actions
         where action = 'merchant.hold' and target = $2) as holds
       from exceptions where reference_id = $1 and resolved_at is null`,
      [referenceId, merchantId],
    );
    expect(rows).toEqual([{ kind: 'lost_payout', amount_rupiah: NET_RUPIAH, holds: 1 }]);
  });
});

describe('reconciliation', () => {
  it('finds a return that the bank has sent no notification of', async () => {
    const payout = await requested(ORDINARY);
    await waitFor(payout, 'completed');
    await fetch(`${service.sandboxUrl}/simulator/transfers/${payout.referenceId}/return`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ notify: false }),
    });
    await reconcile(service);
    expect(await waitFor(payout, 'returned')).toMatchObject({
      names: ['request', 'approve', 'submit', 'complete', 'return'],
    });
  });

  it('reports a webhook of a payout whose retry workflow is lost', async () => {
    const payout = await requested(ORDINARY);
    await waitFor(payout, 'completed');
    const { db } = service;
    const endpointId = randomUUID();
    await db.query("insert into webhook_endpoints (id, merchant_id, url) values ($1, $2, 'http://127.0.0.1:9')", [
      endpointId,
      payout.merchantId,
    ]);
    await db.query(
      `insert into webhook_deliveries (id, payout_id, payout_version, endpoint_id, merchant_id, event, status,
         retry_workflow_started_at)
       select gen_random_uuid(), payout_id, payout_version, $2, $3, event, 'pending', now() - interval '1 hour'
       from payout_events where payout_id = $1 and event = 'payout.completed'`,
      [payout.payoutId, endpointId, payout.merchantId],
    );
    const { breaks } = await reconcile(service);
    expect(breaks.filter(({ referenceId }) => referenceId === payout.referenceId)).toMatchObject([
      { kind: 'missing', paymentId: payout.payoutId },
    ]);
    expect(await exceptionsOf(payout)).toEqual(['reconciliation']);
  });

  it('reports an open payout without a workflow, and starts the workflow', async () => {
    const payout = await requested('9900000020');
    await waitFor(payout, 'submitted');
    await service.client.workflow.getHandle(payoutWorkflowId(payout.payoutId)).terminate();
    const age = `update payouts set updated_at = updated_at - interval '2 minutes' where id = '${payout.payoutId}'`;
    await asSuperuser(service.db, age);
    const breaksOf = async () =>
      (await reconcile(service)).breaks.filter(({ referenceId }) => referenceId === payout.referenceId);
    expect(await breaksOf()).toMatchObject([{ kind: 'missing', isResolvedByStatusQuery: true }]);
    await eventually(
      () => statusOf(payout),
      (status) => status?.status === 'submitted',
    );
    expect(await eventually(breaksOf, ({ length }) => length === 0)).toEqual([]);
  });

  it('closes the exception about a lost payout when PostgreSQL has it again', async () => {
    const { payoutId } = await requested('9900000020');
    const [found, lost] = [payoutWorkflowId(payoutId), payoutWorkflowId(randomUUID())];
    for (const referenceId of [found, lost]) {
      await openException(service.db, { kind: 'reconciliation', referenceId, detail: ORPHANED_PAYOUT.detail });
    }
    await reconcile(service);
    const { rows } = await service.db.query(
      'select reference_id from exceptions where reference_id = any ($1) and resolved_at is null',
      [[found, lost]],
    );
    expect(rows).toEqual([{ reference_id: lost }]);
  });
});

describe("the bank's notifications", () => {
  it.each([
    ['9900000070', 'twice', 2],
    ['9900000071', 'in the wrong order', 2],
    ['9900000072', 'forged', 0],
    ['9900000073', 'never', 0],
  ])('to account %s arrive %s: the payout is completed once, and none stays open', async (number, _, stored) => {
    const payout = await requested(number);
    expect(await waitFor(payout, 'completed')).toMatchObject({ names: ['request', 'approve', 'submit', 'complete'] });
    expect(await directionsOf(payout)).toEqual(['out']);
    const { rows } = await eventually(
      () =>
        service.db.query<{ stored: number; open: number }>(
          `select count(*)::integer as stored, count(*) filter (where closed_at is null)::integer as open
           from provider_notifications where reference_id = $1`,
          [payout.referenceId],
        ),
      ({ rows: [row] }) => row?.open === 0 && row.stored === stored,
    );
    expect(rows).toEqual([{ stored, open: 0 }]);
  });

  it(
    `sent ${COPIES} times complete the payout once`,
    async () => {
      const payout = await requested('9900000020');
      await waitFor(payout, 'submitted');
      await eventually(() => atBank(payout), Boolean);
      const response = await fetch(`${service.sandboxUrl}/simulator/transfers/${payout.referenceId}/complete`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ notify: true, times: COPIES }),
      });
      expect(response.status).toBe(200);
      expect(await waitFor(payout, 'completed')).toMatchObject({ names: ['request', 'approve', 'submit', 'complete'] });
      await eventually(
        () =>
          service.providerDb.query('select from transfer_notifications where due_at is not null and body like $1', [
            `%${payout.referenceId}%`,
          ]),
        ({ rowCount }) => rowCount === 0,
      );
      expect(await rowOf(payout)).toMatchObject({ version: 4 });
      expect(await directionsOf(payout)).toEqual(['out']);
    },
    FULL_TIMEOUT_MS,
  );

  it('before the response of the call: the payout is completed once', async () => {
    await service.injectFault('transfer', 'slow');
    const payout = await requested(ORDINARY);
    expect(await waitFor(payout, 'completed')).toMatchObject({ names: ['request', 'approve', 'submit', 'complete'] });
    expect(await atBank(payout)).toMatchObject({ send_calls: 1 });
    expect(await directionsOf(payout)).toEqual(['out']);
  });

  it('of a payout that Lunas does not have opens an exception', async () => {
    const payout = await newShop(ORDINARY);
    await storePayoutNotification(service.db, {
      accountId: payoutsAccountId,
      referenceId: payout.referenceId,
      reportedStatus: 'completed',
      dedupeKey: payout.referenceId,
      signed: payout.referenceId,
      rawBody: Buffer.from(payout.referenceId),
    });
    const kinds = await eventually(
      () => exceptionsOf(payout),
      ({ length }) => length > 0,
    );
    expect(kinds).toEqual(['unknown_payout']);
  });
});

it('a second member approves what the first one requests', async () => {
  const payout = await newShop(ORDINARY);
  const second = await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
  expect(await request(payout)).toMatchObject({ terms: { approvalKind: 'second_user' } });
  expect(await perform(payout, 'approve', { name: `user:${payout.user}` })).toMatchObject({ outcome: 'rejected' });
  expect(await perform(payout, 'approve', { name: `user:${randomUUID()}` })).toMatchObject({ outcome: 'rejected' });
  expect(await perform(payout, 'approve', { name: `user:${second}` })).toMatchObject({ outcome: 'done' });
  await waitFor(payout, 'completed');
});

describe('the daily run', () => {
  interface Settings {
    readonly weekday: number;
    readonly minimumRupiah: number;
  }
  const startOfRun = () => ({ day: dayInWib(new Date()), startedAtMs: Date.now(), after: null, merchantIds: null });
  const isoWeekday = () => new Date(`${startOfRun().day}T00:00Z`).getUTCDay() || 7;

  async function pays(merchantId: string, schedule: 'daily' | 'weekly' | 'manual', changes: Partial<Settings> = {}) {
    const { weekday = null, minimumRupiah = 50_000 } = changes;
    await service.db.query(
      `insert into payout_settings (merchant_id, schedule, weekday, minimum_rupiah, changed_by, changed_at)
       select $1, $2, $3, $4, 'user:' || user_id, now() from members where merchant_id = $1
       on conflict (merchant_id) do update set schedule = excluded.schedule, weekday = excluded.weekday`,
      [merchantId, schedule, weekday, minimumRupiah],
    );
    return merchantId;
  }
  const newMerchant = async (schedule: 'daily' | 'weekly' | 'manual', changes: Partial<Settings> = {}) =>
    pays((await newShop(ORDINARY)).merchantId, schedule, changes);

  /** The part of a run, in this process. */
  const runPart = (part: ScheduledPayoutsPart, watch: Partial<Parameters<typeof requestScheduledPayouts>[2]> = {}) => {
    const dependencies = { db: service.db, workflows: service.workflows.payouts, log: SILENT };
    const { signal: stopSignal } = new AbortController();
    return requestScheduledPayouts(dependencies, part, {
      attempt: 1,
      onProgress: () => undefined,
      stopSignal,
      ...watch,
    });
  };
  /** A whole run, by the worker. */
  const run = (workflowId: string) =>
    service.client.workflow.execute(runOfDay, { workflowId, taskQueue: PAYOUTS_TASK_QUEUE });

  async function countByMerchant(): Promise<Map<string, number>> {
    const { rows } = await service.db.query<{ id: string; count: number }>(
      `select merchant_id as id, count(*)::integer as count from payouts
       where requested_by = 'schedule' and approval_kind = 'none' group by merchant_id`,
    );
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  it('requests one payout for each merchant who is due, however often it runs and wherever it stops', async () => {
    const due = await Promise.all([
      ...Array.from({ length: MERCHANTS - 1 }, () => newMerchant('daily')),
      newMerchant('weekly', { weekday: isoWeekday() }),
    ]);
    await newMerchant('manual');
    await newMerchant('weekly', { weekday: (isoWeekday() % 7) + 1 });
    await newMerchant('daily', { minimumRupiah: NET_RUPIAH + 1 });
    const held = await newMerchant('daily');
    await changeHold(service.db, held, true);
    const broken = await newMerchant('daily');
    // The sum of its balance is larger than any number that PostgreSQL stores: its preview fails.
    await service.db.query(
      `insert into balance_transactions
           (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
         select 1e15 + number, $1, 'settlement', 9e18, gen_random_uuid(), now(), current_date
         from generate_series(1, 2) number`,
      [broken],
    );

    const part = startOfRun();
    const stopping = new AbortController();
    let progress = 0;
    const onProgress = () => {
      progress += 1;
      if (progress === 10) stopping.abort();
    };
    const stopped = runPart(part, { stopSignal: stopping.signal, onProgress });
    await expect(stopped).rejects.toThrow('aborted');
    const { size: before } = await countByMerchant();
    expect(before).toBeLessThan(due.length);
    const { requested, failed, next } = await runPart(part);
    expect({ failed, next }).toEqual({ failed: [broken], next: null });
    expect(requested).toBe(due.length - before);
    expect(await countByMerchant()).toEqual(new Map(due.map((merchantId) => [merchantId, 1])));

    await pays(broken, 'manual');
    const [early, late] = [due[0] ?? '', await newMerchant('daily')];
    await settle(early);
    expect(await run('scheduled-payouts-1')).toBe('1 payouts requested');
    const counts = await countByMerchant();
    expect([counts.get(early), counts.get(late), counts.size]).toEqual([1, 1, due.length + 1]);
    await recordHistory(service.client, 'scheduled-payouts-1', 'scheduled-payouts');
  }, 120_000);

  it('goes on after half an hour with a page of which more than 50 merchants fail', async () => {
    const ids = Array.from({ length: 51 }, () => randomUUID()).toSorted();
    const list = `unnest(array['${ids.join("','")}']::uuid[]) id`;
    await asSuperuser(
      service.db,
      `insert into merchants (id, name, status) select id, 'Toko', 'approved' from ${list}`,
      `insert into payout_settings (merchant_id, schedule, changed_by, changed_at)
       select id, 'daily', 'cli:test', now() from ${list}`,
      `insert into balance_transactions
         (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
       select 2e15 + row_number() over (), id, 'settlement', 9e18, gen_random_uuid(), now(), current_date
       from ${list} cross join generate_series(1, 2)`,
    );
    const part = { ...startOfRun(), after: null };
    await expect(runPart(part, { attempt: 29 })).rejects.toThrow('out of range');
    const { failed } = await runPart(part, { attempt: 30 });
    expect(failed.toSorted()).toEqual(ids);
    expect((await runPart({ ...part, merchantIds: ids })).failed.toSorted()).toEqual(ids);
    await asSuperuser(service.db, `delete from payout_settings using ${list} where merchant_id = id`);
  });

  it('requests nothing while payouts are stopped, and in recovery mode', async () => {
    await newMerchant('daily');
    const before = await countByMerchant();
    await service.db.query("insert into payout_stops (is_stopped, changed_by, note) values (true, 'cli:test', 'x')");
    expect(await run('scheduled-payouts-2')).toBe('0 payouts requested');
    await service.db.query("insert into payout_stops (is_stopped, changed_by, note) values (false, 'cli:test', 'x')");
    await beginRecovery(service.db, { by: 'cli:test', reason: 'x' });
    expect(await run('scheduled-payouts-3')).toBe('0 payouts requested');
    await endRecovery(service.db);
    expect(await countByMerchant()).toEqual(before);
  });

  it('is scheduled at 07:00 WIB, for the workers of payouts', async () => {
    const { spec, action } = await service.client.schedule.getHandle('payouts').describe();
    expect(spec.calendars).toMatchObject([{ hour: [{ start: 0, end: 0 }], minute: [{ start: 0, end: 0 }] }]);
    expect(action).toMatchObject({ workflowType: 'requestScheduledPayouts', taskQueue: PAYOUTS_TASK_QUEUE });
  });
});
