import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { SdkFlags } from '@temporalio/workflow/lib/flags';
import { requestPayout as requestPayoutActivity, submitPayout } from '../../../activities/payout';
import { renderPayout } from '../../../src/cli/render-payout';
import { fixValue } from '../../../src/crypto/fixed-value';
import { createSealer } from '../../../src/crypto/sealing';
import { inTransaction } from '../../../src/db/connection/transaction';
import { storePayoutNotification } from '../../../src/db/payments/notification-inbox';
import { claimReleasedPayouts } from '../../../src/db/payouts/find-payout';
import { payoutWriters } from '../../../src/db/transitions/payout-transitions';
import { forEachConcurrent } from '../../../src/lib/for-each-concurrent';
import type { FaultKind } from '../../../src/sandbox/faults';
import { changeHold } from '../../../src/services/merchants/merchants';
import { previewPayout } from '../../../src/services/payouts/payouts';
import { showPayout } from '../../../src/services/payouts/show-payout';
import { payoutWorkflowId } from '../../../workflows/ids';
import { newPayoutReference } from '../../sandbox/bank/bank-under-test';
import { activityDependencies } from '../../support/activity-dependencies';
import { asSuperuser } from '../../support/backdate';
import { eventually } from '../../support/eventually';
import { recordHistory } from '../../support/history';
import { requestByMember } from '../../support/payout-acts';
import {
  ANOTHER_BALANCE,
  FEE_RUPIAH,
  NET_RUPIAH,
  ORDINARY,
  preparePayoutsAtBank,
  type PayoutsAtBank,
  type ShopPayout,
} from '../../support/payouts-at-bank';
import { createMember } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';
import { FakeAcquirer } from '../../workflows/model/fake-acquirer';

const DAY_MS = 86_400_000;
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
/** A payout that the bank does not know stays open, and a workflow that is not cached is replayed for each query. */
const CACHED_WORKFLOWS = bySize({ small: 100, full: 4_000 });
/** Copies of one notification of the bank. */
const COPIES = bySize({ small: 12, full: 1_000 });
const FULL_TIMEOUT_MS = bySize({ small: 90_000, full: 3_600_000 });

/** What the row of a payout does not have of its request. */
const NEVER_READ = {
  rail: 'bi_fast',
  payoutPolicyId: 1,
  afterPostingId: 0,
  upToPostingId: 1,
  by: { name: 'schedule' },
} as const;

let service: TestService;
let payouts: PayoutsAtBank;

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { maxCachedWorkflows: CACHED_WORKFLOWS });
  payouts = await preparePayoutsAtBank(service);
});
afterAll(() => service.close());

it('a payout is completed with one call to the bank and one execution, and its history is short', async () => {
  const payout = await payouts.requested(ORDINARY);
  const completed = await payouts.waitFor(payout, 'completed');
  const names = ['request', 'approve', 'submit', 'complete'];
  expect(completed).toMatchObject({ names, send_count: 1, send_outcome: 'accepted' });
  expect(await payouts.atBank(payout)).toMatchObject({
    send_calls: 1,
    amount_rupiah: 250_000,
    account_number: ORDINARY,
  });
  expect(await payouts.directionsOf(payout)).toEqual(['out']);
  expect(await payouts.balanceOf(payout)).toBe(0);
  const handle = payouts.workflowOf(payout);
  expect(await handle.result()).toBe('completed');
  const { historyLength, searchAttributes, raw } = await handle.describe();
  expect(historyLength).toBeLessThanOrEqual(30);
  expect(Number(raw.workflowExecutionInfo?.historySizeBytes)).toBeLessThanOrEqual(10_000);
  expect(searchAttributes).toMatchObject({ PayoutStatus: ['completed'], ReferenceId: [payout.referenceId] });
  const { events } = await handle.fetchHistory();
  const tasks = events?.filter((event) => event.workflowTaskCompletedEventAttributes) ?? [];
  expect(tasks.length).toBeLessThanOrEqual(5);
  const flags = tasks[0]?.workflowTaskCompletedEventAttributes?.sdkMetadata?.langUsedFlags;
  expect(flags).toContain(SdkFlags.ProcessWorkflowActivationJobsAsSingleBatch.id);
  await recordHistory(service.client, payoutWorkflowId(payout.payoutId), 'payout-completed');
});

it('a signal compares a payout with its row: its workflow may have lost the approval', async () => {
  const payout = await payouts.newShop(ORDINARY);
  const { merchantId, payoutId } = payout;
  const approver = await createMember(service.db, `${payoutId}@shop.test`, [[merchantId, 'owner']]);
  expect(await payouts.request(payout)).toMatchObject({ outcome: 'requested', state: { status: 'requested' } });
  const approval = { payoutId, version: 1, at: new Date(), by: { name: `user:${approver}` } } as const;
  expect(await payoutWriters.approve(service.context, approval)).toMatchObject({ outcome: 'applied' });
  await service.workflows.payouts.notify(payout);
  expect(await payouts.waitFor(payout, 'completed')).toMatchObject({ send_count: 1 });
  expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
  await recordHistory(service.client, payoutWorkflowId(payoutId), 'payout-compared-with-its-row');
});

describe("the bank's status for an operator", () => {
  it('an operator reads the status that the bank reports now, and nothing is recorded', async () => {
    const payout = await payouts.requested(ORDINARY);
    const { names } = await payouts.waitFor(payout, 'completed');
    const details = await showPayout(service.db, service.workflows.payouts, payout.referenceId);
    expect(details.bank).toMatchObject({ outcome: 'found', status: 'completed', amountRupiah: 250_000 });
    expect(renderPayout(details)).toMatch(/Bank's status now +completed, Rp 250\.000 to •••• 7890/);
    expect(await payouts.rowOf(payout)).toMatchObject({ names });
    await recordHistory(service.client, await firstWorkflowOf('bankStatus'), 'bank-status');
  });

  it('the bank is not asked for the payout of another merchant', async () => {
    const { payoutId } = await payouts.requested('9900000020');
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
  const payout = await payouts.requested('9900000020');
  expect(await payouts.request(payout)).toMatchObject({ outcome: 'requested' });
  expect(await payouts.request({ ...payout, payoutId: randomUUID(), referenceId: newPayoutReference() })).toEqual({
    outcome: 'rejected',
  });
  await payouts.waitFor(payout, 'submitted');
});

it('a request that was rejected is repeated with the balance of now', async () => {
  const payout = await payouts.newShop('9900000020');
  expect(await payouts.request(payout, ANOTHER_BALANCE)).toEqual({ outcome: 'rejected' });
  expect(await payouts.request(payout)).toMatchObject({ outcome: 'requested' });
  await payouts.waitFor(payout, 'submitted');
});

it('a request that something kept back is repeated as it was, and two clicks are one request', async () => {
  const payout = await payouts.newShop('9900000020');
  await changeHold(service.db, payout.merchantId, true);
  expect(await payouts.request(payout)).toEqual({ outcome: 'rejected' });
  await changeHold(service.db, payout.merchantId, false);
  const results = await Promise.all([payouts.request(payout), payouts.request(payout)]);
  expect(results.map(({ outcome }) => outcome)).toEqual(['requested', 'requested']);
  await payouts.waitFor(payout, 'submitted');
});

it('one of several forms sent together starts a workflow, and the others nothing until it is decided', async () => {
  const payout = await payouts.newShop('9900000020');
  const { merchantId, user: userId } = payout;
  const { db, workflows } = service;
  const seen = await previewPayout(service.db, merchantId, new Date());
  if (seen.outcome === 'rejected') throw new Error(`rejected: ${seen.rejection.code}`);
  const rejected: unknown[] = [];
  const send = async () => {
    const form = { formToken: randomUUID(), ...seen };
    const result = await requestByMember({ db, workflows }, { merchantId, userId }, form);
    if (result.outcome === 'rejected') rejected.push(result.rejection);
  };
  const { sent } = await inTransaction(service.db, async (client) => {
    // The row of a payout names the bank account: it cannot be written before the lock is released.
    await client.query('select from bank_accounts where id = $1 for update', [payout.bankAccountId]);
    const sent = Promise.allSettled(Array.from({ length: 4 }, send));
    await eventually(
      () => Promise.resolve(rejected),
      ({ length }) => length === 3,
    );
    return { sent };
  });
  await sent;
  const pending = { code: 'request_pending' };
  expect(rejected).toEqual([pending, pending, pending]);
  const query = `WorkflowType = 'payout' and MerchantId = '${merchantId}'`;
  const { count } = await eventually(
    () => service.client.workflow.count(query),
    ({ count }) => count > 0,
  );
  expect(count).toBe(1);
});

it('a request whose time is over is rejected, unless an attempt has written its row', async () => {
  const { payoutId, merchantId } = await payouts.newShop('9900000020');
  const written = await payouts.requested('9900000020');
  const dependencies = activityDependencies(service.context, new FakeAcquirer());
  const decide = async (key: { readonly payoutId: string; readonly merchantId: string }) => {
    const request = { ...(await payouts.recordedOf(written)).terms, ...NEVER_READ, ...key };
    const input = { ...key, request, atMs: Date.now(), isOverdue: true } as const;
    return (await requestPayoutActivity(dependencies, input)).outcome;
  };
  expect([await decide({ payoutId, merchantId }), await decide(written)]).toEqual(['rejected', 'requested']);
  // Its call to the bank would use up a fault of the tests that follow.
  await payouts.waitFor(written, 'submitted');
});

describe('a call whose response is lost', () => {
  /** Sends a payout for each armed fault, and checks each. @returns what the bank has of them */
  async function sendLosing(check: (payout: ShopPayout) => Promise<void>) {
    const sent: ShopPayout[] = [];
    await forEachConcurrent(Array(LOST_RESPONSES).fill(ORDINARY), CONCURRENT_PAYOUTS, async (number) => {
      const payout = await payouts.requested(number);
      sent.push(payout);
      await check(payout);
    });
    return payouts.listAtBank(sent);
  }

  it.each([...LOST_AFTER_EXECUTION])(
    'a payout whose response is lost after the execution (%s) is found and completed, with one call and one execution',
    async (kind) => {
      await service.injectFault('transfer', kind, LOST_RESPONSES);
      const sent = await sendLosing(async (payout) => {
        expect(await payouts.waitFor(payout, 'completed')).toMatchObject({
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
    'a payout whose response is lost before the execution (%s) is neither sent again nor failed',
    async (kind) => {
      await service.injectFault('transfer', kind, LOST_RESPONSES);
      const sent = await sendLosing(async (payout) => {
        await eventually(
          () => payouts.rowOf(payout),
          ({ send_outcome }) => send_outcome === 'indeterminate',
        );
        await service.workflows.payouts.notify(payout);
        await eventually(
          () => payouts.statusOf(payout),
          (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
        );
        expect(await payouts.rowOf(payout)).toMatchObject({ status: 'submitted', send_count: 1 });
      });
      expect(sent).toEqual(Array(LOST_RESPONSES).fill(undefined));
    },
    FULL_TIMEOUT_MS,
  );

  it('a payout lost before the execution never fails by itself, and an operator can send it again', async () => {
    await service.injectFault('transfer', 'reset');
    const payout = await payouts.requested(ORDINARY);
    await payouts.waitFor(payout, 'submitted');
    await service.workflows.payouts.notify(payout);
    await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
    );
    expect(await payouts.atBank(payout)).toBeUndefined();
    const { bank } = await showPayout(service.db, service.workflows.payouts, payout.payoutId);
    expect(bank).toEqual({ outcome: 'not_found' });
    await changeHold(service.db, payout.merchantId, true);
    expect(await payouts.perform(payout, 'resend')).toEqual({
      outcome: 'rejected',
      reason: 'Not now: it waits for an operator to release the merchant.',
    });
    await changeHold(service.db, payout.merchantId, false);
    expect(await payouts.perform(payout, 'resend')).toMatchObject({ outcome: 'done', state: { status: 'submitted' } });
    expect(await payouts.waitFor(payout, 'completed')).toMatchObject({ send_count: 2, send_outcome: 'accepted' });
    expect(await payouts.directionsOf(payout)).toEqual(['out']);
    expect(await payouts.perform(payout, 'resend')).toMatchObject({ outcome: 'rejected' });
  });

  it('the permission of a call is not used up while the rate of calls is', async () => {
    await payouts.limitCalls(1);
    const payout = await payouts.requested(ORDINARY);
    expect(await payouts.waitFor(payout, 'completed')).toMatchObject({ send_count: 1, send_outcome: 'accepted' });
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
    await payouts.limitCalls(null);
  });

  it('a payout that the bank has is not sent again', async () => {
    const payout = await payouts.requested('9900000020');
    await payouts.waitFor(payout, 'submitted');
    await eventually(() => payouts.atBank(payout), Boolean);
    expect(await payouts.perform(payout, 'resend')).toEqual({
      outcome: 'rejected',
      reason: 'The bank has the payout: it is pending.',
    });
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
  });
});

it.each([
  ['9900000050', 'account', []],
  ['9900000051', 'source_balance', ['payout_source_balance']],
  ['9900000052', 'cut_off', []],
] as const)(
  'account %s is rejected: the payout fails, and its money is available again',
  async (number, kind, kinds) => {
    const payout = await payouts.requested(number);
    expect(await payouts.askUntil(payout, 'failed')).toMatchObject({ failure_kind: kind, send_outcome: 'rejected' });
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await payouts.exceptionsOf(payout)).toEqual(kinds);
    const { rows } = await service.db.query('select status from bank_accounts where id = $1', [payout.bankAccountId]);
    expect(rows).toEqual([{ status: kind === 'account' ? 'suspended' : 'active' }]);
  },
);

describe('what the bank reports later', () => {
  it('a completed payout comes back: the amount is available again, and the fee is not', async () => {
    const payout = await payouts.requested('9900000030');
    await payouts.waitFor(payout, 'completed');
    expect(await payouts.waitFor(payout, 'returned')).toMatchObject({
      names: ['request', 'approve', 'submit', 'complete', 'return'],
    });
    expect(await payouts.directionsOf(payout)).toEqual(['out', 'back']);
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH - FEE_RUPIAH);
  });

  it('a failed payout is executed after all: its money has left the balance, and an exception is open', async () => {
    const payout = await payouts.requested('9900000031');
    await payouts.waitFor(payout, 'failed');
    await payouts.waitFor(payout, 'completed');
    expect(await payouts.directionsOf(payout)).toEqual(['out']);
    expect(await payouts.balanceOf(payout)).toBe(0);
    expect(await payouts.exceptionsOf(payout)).toEqual(['payout_conflict']);
  });

  it('another amount than was sent: no transition, and an exception', async () => {
    const payout = await payouts.requested('9900000080');
    await eventually(
      async () => {
        await service.workflows.payouts.notify(payout);
        return payouts.exceptionsOf(payout);
      },
      (kinds) => kinds.length > 0,
    );
    expect(await payouts.exceptionsOf(payout)).toEqual(['payout_amount']);
    expect(await payouts.rowOf(payout)).toMatchObject({ status: 'submitted' });
    expect(await payouts.perform(payout, 'resolveAsCompleted')).toMatchObject({ outcome: 'done' });
    expect(await payouts.rowOf(payout)).toMatchObject({ status: 'completed', is_manual: true });
  });
});

describe('before the bank has it', () => {
  async function deferred(): Promise<ShopPayout> {
    const payout = await payouts.newShop(ORDINARY);
    const second = await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
    expect(await payouts.request(payout)).toMatchObject({ outcome: 'requested' });
    await changeHold(service.db, payout.merchantId, true);
    await payouts.perform(payout, 'approve', { name: `user:${second}` });
    await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.waitingFor === 'an operator to release the merchant',
    );
    return payout;
  }

  it('a payout of a merchant on hold waits, and the release sends it', async () => {
    const payout = await deferred();
    expect(await payouts.statusOf(payout)).toMatchObject({
      attentionReason: expect.stringContaining('release the merchant'),
    });
    expect(await payouts.atBank(payout)).toBeUndefined();
    await service.stopWorker();
    await changeHold(service.db, payout.merchantId, false);
    // The sweeper looks when it starts, and then each 30 s. The timer of the workflow takes an hour.
    await service.startWorker();
    await payouts.waitFor(payout, 'completed');
    expect(await payouts.directionsOf(payout)).toEqual(['out']);
  });

  it('a payout whose rail is closed waits for its window', async () => {
    const isMorning = new Date(Date.now() + 7 * 3_600_000).getUTCHours() < 12;
    const { rows } = await service.db.query<{ id: number }>(
      `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
         expected_within_seconds, is_enabled)
       values ('skn', 2, ${FEE_RUPIAH}, 10000, $1, $2, 'every', 60, true) returning id`,
      isMorning ? ['20:00', '21:00'] : ['03:00', '04:00'],
    );
    const payout = await payouts.newShop(ORDINARY);
    expect(await payouts.request(payout, { rail: 'skn', payoutPolicyId: rows[0]?.id ?? 0 })).toMatchObject({
      outcome: 'requested',
    });
    const opens = new RegExp(`the window of its rail to open \\(until .*T${isMorning ? '13' : '20'}:00:00.000Z`);
    await eventually(
      () => payouts.statusOf(payout),
      (status) => opens.test(status?.waitingFor ?? ''),
    );
    expect(await payouts.atBank(payout)).toBeUndefined();
    const [{ terms, state }, opened] = [await payouts.recordedOf(payout), isMorning ? 13 : 20];
    const submit = submitPayout.checked.bind(
      null,
      activityDependencies(service.context, new FakeAcquirer(), { sealer: createSealer(service.masterKey) }),
    );
    const atMs = new Date().setUTCHours(opened, 30) - DAY_MS;
    expect(await new MockActivityEnvironment().run(submit, { terms, state, atMs })).toMatchObject({
      deferral: { obstacle: 'rail_closed' },
    });
    const released = await claimReleasedPayouts(service.db, new Date());
    expect(released.map(({ payoutId }) => payoutId)).not.toContain(payout.payoutId);
    expect(await payouts.perform(payout, 'cancel')).toMatchObject({ outcome: 'done' });
  });

  it('a member cancels it: the money is available again', async () => {
    const payout = await deferred();
    expect(await payouts.perform(payout, 'cancel', { name: `user:${payout.user}` })).toMatchObject({ outcome: 'done' });
    expect(await payouts.rowOf(payout)).toMatchObject({ status: 'cancelled' });
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await payouts.atBank(payout)).toBeUndefined();
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
      () => payouts.statusOf(payout),
      (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
    );
    expect(await payouts.atBank(payout)).toBeUndefined();
    expect(await payouts.perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
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
    const handle = payouts.workflowOf(payout);
    await expect(handle.result()).rejects.toThrow('failed');
    await service.workflows.payouts.notify(payout);
    await expect(service.client.workflow.getHandle(handle.workflowId).result()).rejects.toThrow('failed');
    expect(await payouts.atBank(payout)).toBeUndefined();
  });

  /** The number of its bank account ends as the one that was approved. */
  async function withOwnNumber(assignments: string): Promise<ShopPayout> {
    const payout = await deferred();
    const { bankAccountId: id, merchantId } = payout;
    const binding = ['bank-account-number', id, merchantId, '014'] as const;
    const own = fixValue(createSealer(service.masterKey), '6661117890', binding);
    await asSuperuser(service.db, {
      text: `update bank_accounts set ${assignments} from (select $1::text as sealed, $2::text as hash) own
        where id = $3`,
      values: [own.sealed, own.hash, id],
    });
    await changeHold(service.db, merchantId, false);
    await service.workflows.payouts.notify(payout);
    return payout;
  }

  it('attack: a number that was replaced in its bank account is not paid', async () => {
    const payout = await withOwnNumber('sealed_number = own.sealed');
    await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.attentionReason?.includes('is not the one that was proposed') ?? false,
    );
    expect(await payouts.rowOf(payout)).toMatchObject({ status: 'approved', send_count: 0 });
    expect(await payouts.perform(payout, 'cancel')).toMatchObject({ outcome: 'done' });
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await payouts.atBank(payout)).toBeUndefined();
  });

  it('attack: nor one that was replaced with its hash, because the terms have the hash of the request', async () => {
    const payout = await withOwnNumber('sealed_number = own.sealed, number_hmac = own.hash');
    await expect(payouts.workflowOf(payout).result()).rejects.toThrow('failed');
    expect(await payouts.rowOf(payout)).toMatchObject({ status: 'approved', send_count: 0 });
    expect(await payouts.atBank(payout)).toBeUndefined();
  });
});

describe("the bank's notifications", () => {
  it.each([
    ['9900000070', 'twice', 2],
    ['9900000071', 'in the wrong order', 2],
    ['9900000072', 'forged', 0],
    ['9900000073', 'never', 0],
  ])('notifications to %s arrive %s: the payout is completed once, and none stays open', async (number, _, stored) => {
    const payout = await payouts.requested(number);
    expect(await payouts.waitFor(payout, 'completed')).toMatchObject({
      names: ['request', 'approve', 'submit', 'complete'],
    });
    expect(await payouts.directionsOf(payout)).toEqual(['out']);
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
      const payout = await payouts.requested('9900000020');
      await payouts.waitFor(payout, 'submitted');
      await eventually(() => payouts.atBank(payout), Boolean);
      const response = await fetch(`${service.sandboxUrl}/simulator/transfers/${payout.referenceId}/complete`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ notify: true, times: COPIES }),
      });
      expect(response.status).toBe(200);
      expect(await payouts.waitFor(payout, 'completed')).toMatchObject({
        names: ['request', 'approve', 'submit', 'complete'],
      });
      await eventually(
        () =>
          service.providerDb.query('select from transfer_notifications where due_at is not null and body like $1', [
            `%${payout.referenceId}%`,
          ]),
        ({ rowCount }) => rowCount === 0,
      );
      expect(await payouts.rowOf(payout)).toMatchObject({ version: 4 });
      expect(await payouts.directionsOf(payout)).toEqual(['out']);
    },
    FULL_TIMEOUT_MS,
  );

  it('a notification before the response of the call completes the payout once', async () => {
    await service.injectFault('transfer', 'slow');
    const payout = await payouts.requested(ORDINARY);
    expect(await payouts.waitFor(payout, 'completed')).toMatchObject({
      names: ['request', 'approve', 'submit', 'complete'],
    });
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
    expect(await payouts.directionsOf(payout)).toEqual(['out']);
  });

  it('a notification of a payout that Lunas does not have opens an exception', async () => {
    const payout = await payouts.newShop(ORDINARY);
    await storePayoutNotification(service.db, {
      accountId: payouts.accountId,
      referenceId: payout.referenceId,
      reportedStatus: 'completed',
      dedupeKey: payout.referenceId,
      signed: payout.referenceId,
      rawBody: Buffer.from(payout.referenceId),
    });
    const kinds = await eventually(
      () => payouts.exceptionsOf(payout),
      ({ length }) => length > 0,
    );
    expect(kinds).toEqual(['unknown_payout']);
  });
});

it('a second member approves what the first one requests', async () => {
  const payout = await payouts.newShop(ORDINARY);
  const second = await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
  expect(await payouts.request(payout)).toMatchObject({ terms: { approvalKind: 'second_user' } });
  expect(await payouts.perform(payout, 'approve', { name: `user:${payout.user}` })).toMatchObject({
    outcome: 'rejected',
  });
  expect(await payouts.perform(payout, 'approve', { name: `user:${randomUUID()}` })).toMatchObject({
    outcome: 'rejected',
  });
  expect(await payouts.perform(payout, 'approve', { name: `user:${second}` })).toMatchObject({ outcome: 'done' });
  await payouts.waitFor(payout, 'completed');
});

it('a payout that may be at the bank, and whose row is not submitted, waits with a reason for attention', async () => {
  const payout = await payouts.newShop(ORDINARY);
  await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
  expect(await payouts.request(payout)).toMatchObject({ terms: { approvalKind: 'second_user' } });
  await payouts.workflowOf(payout).terminate();
  // PostgreSQL has lost the submission, and no recovery is recorded.
  await service.workflows.payouts.resume({ ...payout, wasSubmitted: true });
  const { attentionReason } =
    (await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.waitingFor === 'the next attempt',
    )) ?? {};
  expect(attentionReason).toBe('The right people have not approved it.');
  expect(await payouts.rowOf(payout)).toMatchObject({ status: 'requested' });
});
