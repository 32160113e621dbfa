import { randomUUID } from 'node:crypto';
import { payoutWriters } from '../../../src/db/transitions/payout-transitions';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { changeHold } from '../../../src/services/merchants/merchants';
import { listExceptionsOf } from '../../../src/services/payments/exceptions';
import { previewPayout } from '../../../src/services/payouts/payouts';
import { holdLostPayouts } from '../../../src/services/recovery/hold-lost-payouts';
import { recover, type Recovery } from '../../../src/services/recovery/recover';
import { endRecoveryMode } from '../../../src/services/recovery/recovery-mode';
import { payoutWorkflowId } from '../../../workflows/ids';
import { osUser } from '../../support/actors';
import { asSuperuser } from '../../support/backdate';
import { prepareBankAccount } from '../../support/bank-accounts';
import { backUp } from '../../support/database';
import { eventually } from '../../support/eventually';
import {
  ANOTHER_BALANCE,
  FEE_RUPIAH,
  NET_RUPIAH,
  OPERATOR,
  ORDINARY,
  preparePayoutsAtBank,
  type PayoutsAtBank,
  type ShopPayout,
} from '../../support/payouts-at-bank';
import { createMember } from '../../support/people';
import { reconcile } from '../../support/reconcile';
import { resolveByOperator } from '../../support/resolve-exception';
import { restore } from '../../support/restore';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
let payouts: PayoutsAtBank;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  payouts = await preparePayoutsAtBank(service);
});
afterAll(() => service.close());

const runRecovery = () => recover(service.operatorContext, service.workflows, { startedSince: new Date(0) });

/** Its request waits for a second member. */
async function awaitingApproval(): Promise<ShopPayout & { readonly second: string }> {
  const payout = await payouts.newShop(ORDINARY);
  const second = await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
  expect(await payouts.request(payout)).toMatchObject({ state: { status: 'requested' } });
  return { ...payout, second };
}

async function cancelled(payout: ShopPayout): Promise<ShopPayout> {
  expect(await payouts.perform(payout, 'cancel', { name: `user:${payout.user}` })).toMatchObject({ outcome: 'done' });
  return payout;
}

/** A payout that reaches a status by itself. */
async function ended(number: string, status: string): Promise<ShopPayout> {
  const payout = await payouts.requested(number);
  await payouts.askUntil(payout, status);
  return payout;
}

async function requestOf(payout: ShopPayout, status: string): Promise<void> {
  expect(await payouts.request(payout)).toMatchObject({ outcome: 'requested' });
  await payouts.askUntil(payout, status);
}

async function control(payout: ShopPayout, call: 'complete' | 'return'): Promise<void> {
  const path = `/simulator/transfers/${payout.referenceId}/${call}`;
  expect((await fetch(service.sandboxUrl + path, { method: 'POST' })).status).toBe(200);
}

/** Payouts that the backup has in each status, and merchants whose payouts it does not have. */
async function makePayouts() {
  return {
    requested: await awaitingApproval(),
    approvedLater: await awaitingApproval(),
    cancelledLater: await awaitingApproval(),
    completedLater: await ended('9900000020', 'submitted'),
    returnedLater: await ended(ORDINARY, 'completed'),
    submitted: await ended('9900000020', 'submitted'),
    completed: await ended(ORDINARY, 'completed'),
    failed: await ended('9900000050', 'failed'),
    cancelled: await cancelled(await awaitingApproval()),
    returned: await ended('9900000030', 'returned'),
    lostCompleted: await payouts.newShop(ORDINARY),
    lostSubmitted: await payouts.newShop('9900000020'),
    lostFailed: await payouts.newShop('9900000051'),
  };
}

/** The status of each after the recovery, and its executions at the bank. */
const RESTORED: Readonly<Record<string, readonly string[]>> = {
  requested: ['requested'],
  approvedLater: ['completed', 'out'],
  cancelledLater: ['failed'],
  completedLater: ['completed', 'out'],
  returnedLater: ['returned', 'out', 'back'],
  submitted: ['submitted'],
  completed: ['completed', 'out'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  returned: ['returned', 'out', 'back'],
  lostCompleted: ['completed', 'out'],
  lostSubmitted: ['submitted'],
  lostFailed: ['failed'],
};

async function changeAfterBackup(made: Awaited<ReturnType<typeof makePayouts>>): Promise<void> {
  const { approvedLater, completedLater, returnedLater } = made;
  await payouts.perform(approvedLater, 'approve', { name: `user:${approvedLater.second}` });
  await cancelled(made.cancelledLater);
  await control(completedLater, 'complete');
  await control(returnedLater, 'return');
  await requestOf(made.lostCompleted, 'completed');
  await requestOf(made.lostSubmitted, 'submitted');
  await requestOf(made.lostFailed, 'failed');
  for (const payout of [approvedLater, completedLater]) await payouts.askUntil(payout, 'completed');
  await payouts.waitFor(returnedLater, 'returned');
}

it('a restore of PostgreSQL with payouts in all statuses ends without a break', async () => {
  const made = await makePayouts();
  const backup = await backUp(service.databaseUrl);
  try {
    await changeAfterBackup(made);
    await restore(service, backup);
    await service.startWorker({ beginsRecovery: true });
    const recovery = await runRecovery();
    expect(recovery.failures).toEqual([]);
    expect(recovery.payoutRows.rebuilt).toBe(3);
    const ids = new Set(Object.values(made).map(({ payoutId }) => payoutId));
    await eventually(
      // The payments of the balances are not at the provider.
      async () =>
        (await reconcile(service, { changedSince: new Date(0), isRecovering: true })).breaks.filter(
          ({ paymentId }) => paymentId !== null && ids.has(paymentId),
        ),
      ({ length }) => length === 0,
    );
    const { db } = service.operatorContext;
    await endRecoveryMode({ db, workflows: service.workflows }, osUser('dewi'), {
      note: 'recovered',
      hasLostNothing: true,
    });
    // What PostgreSQL has as requested is not cancelled before the bank is asked.
    const cancel = await payouts.perform(made.cancelledLater, 'cancel', { name: `user:${made.cancelledLater.user}` });
    expect(cancel).toMatchObject({ outcome: 'rejected' });
    // The bank has never had them, and PostgreSQL cannot know it: an operator decides.
    for (const payout of [made.cancelledLater, made.lostFailed]) {
      await payouts.waitFor(payout, 'submitted');
      expect(await payouts.perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    }
    for (const [name, payout] of Object.entries(made)) {
      const [status, ...directions] = RESTORED[name] ?? [];
      await payouts.askUntil(payout, status ?? '');
      expect([name, await payouts.directionsOf(payout)]).toEqual([name, directions]);
      expect((await payouts.atBank(payout))?.send_calls ?? 0).toBeLessThanOrEqual(1);
    }
    expect((await verifyLedger(service.db, { all: true })).breaks).toEqual([]);
    expect((await runRecovery()).payoutRows.rebuilt).toBe(0);
  } finally {
    await backup.drop();
  }
}, 180_000);

describe('after a restore of PostgreSQL to before it was submitted', () => {
  /** The bank has it, PostgreSQL has not, and its merchant is on hold. */
  async function restored(): Promise<ShopPayout> {
    const payout = await payouts.requested('9900000020');
    await eventually(() => payouts.atBank(payout), Boolean);
    await payouts.waitFor(payout, 'submitted');
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

  it('the workflow of a restored payout records the submission again, and looks at the bank', async () => {
    const payout = await restored();
    await service.workflows.payouts.notify(payout);
    expect(await payouts.waitFor(payout, 'submitted')).toMatchObject({ version: 3, send_outcome: null });
    expect(await payouts.perform(payout, 'cancel')).toMatchObject({ outcome: 'rejected' });
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
  });

  it('a restored payout that no workflow has is not cancelled, and it is not sent again', async () => {
    const payout = await restored();
    await payouts.workflowOf(payout).terminate();
    await service.db.query("update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()");
    expect(await payouts.perform(payout, 'cancel')).toMatchObject({ outcome: 'rejected' });
    await payouts.waitFor(payout, 'submitted');
    expect(await payouts.perform(payout, 'resend')).toMatchObject({ outcome: 'rejected' });
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
  });

  it('a restored payout that the bank does not know is not sent again: its money may be paid out', async () => {
    const payout = await payouts.requested('9900000041');
    await payouts.waitFor(payout, 'submitted');
    await service.db.query("update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()");
    await service.db.query('update recovery_mode set begun_at = null, begun_by = null, reason = null');
    await service.workflows.payouts.notify(payout);
    await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.attentionReason?.includes('not sent any more') ?? false,
    );
    const reason = expect.stringContaining('older than a restore');
    expect(await payouts.perform(payout, 'resend')).toEqual({ outcome: 'rejected', reason });
    const resend = { payoutId: payout.payoutId, version: 3, at: new Date(), by: OPERATOR };
    expect(await payoutWriters.resend(service.context, resend)).toMatchObject({ outcome: 'deferred' });
    expect(await payouts.perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
  });

  it('a restored payout that waits for an approval goes on without one, because the bank is asked', async () => {
    const payout = await payouts.newShop(ORDINARY);
    await createMember(service.db, `${randomUUID()}@shop.test`, [[payout.merchantId, 'finance']]);
    expect(await payouts.request(payout)).toMatchObject({ state: { status: 'requested' } });
    await service.db.query("update recovery_mode set begun_at = now(), begun_by = 'x', reason = 'y', ended_at = now()");
    await service.db.query('update recovery_mode set begun_at = null, begun_by = null, reason = null');
    const cancel = await payouts.perform(payout, 'cancel', { name: `user:${payout.user}` });
    expect(cancel).toMatchObject({ outcome: 'rejected', reason: expect.stringContaining('before the bank is asked') });
    const row = await payouts.waitFor(payout, 'submitted');
    expect(row).toMatchObject({ version: 3, send_count: 1, send_outcome: null });
    expect(await payouts.atBank(payout)).toBeUndefined();
  });
});

describe('lunas recover', () => {
  const referenceFailures = ({ failures }: Recovery, { payoutId }: ShopPayout) =>
    failures.filter(({ id }) => id === payoutId);

  async function pendingAtBank(): Promise<ShopPayout> {
    const payout = await payouts.requested('9900000020');
    await payouts.waitFor(payout, 'submitted');
    await eventually(() => payouts.atBank(payout), Boolean);
    await eventually(
      () => service.workflows.payouts.records.describe(payout.payoutId),
      (workflow) => workflow?.status === 'submitted',
    );
    return payout;
  }

  /** A restore of PostgreSQL to before the request. The lines of its balance are still there. */
  async function loseRow({ payoutId }: ShopPayout): Promise<void> {
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

  const completeAtBank = ({ referenceId }: ShopPayout) =>
    fetch(`${service.sandboxUrl}/simulator/transfers/${referenceId}/complete`, { method: 'POST' });

  it('starts the workflow of an open payout again: it looks at the bank, and sends nothing', async () => {
    const payout = await pendingAtBank();
    await payouts.workflowOf(payout).terminate();
    expect((await runRecovery()).payouts.rebuilt).toBeGreaterThanOrEqual(1);
    expect((await runRecovery()).payouts.rebuilt).toBe(0);
    await completeAtBank(payout);
    await payouts.askUntil(payout, 'completed');
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
  });

  it('signals the running workflow of a payout that rests', async () => {
    const payout = await pendingAtBank();
    const { state } = await payouts.recordedOf(payout);
    const { payoutId } = payout;
    await payoutWriters.complete(service.context, { ...state, payoutId, at: new Date(), bankReference: null });
    expect((await runRecovery()).payoutRows.notified).toBeGreaterThanOrEqual(1);
    expect(await payouts.workflowOf(payout).result()).toBe('completed');
  });

  it.each([
    ['that is open', '9900000020'],
    ['that has been completed', ORDINARY],
  ])('writes a payout %s again: it claims no lines, and is not sent', async (_, number) => {
    const payout = await (number === ORDINARY ? payouts.requested(number) : pendingAtBank());
    if (number === ORDINARY) {
      await payouts.waitFor(payout, 'completed');
      await payouts.workflowOf(payout).result();
    }
    await loseRow(payout);
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
    const recovery = await runRecovery();
    expect(referenceFailures(recovery, payout)).toEqual([]);
    expect(recovery.payoutRows.rebuilt).toBe(1);
    if (number !== ORDINARY) await completeAtBank(payout);
    expect(await payouts.askUntil(payout, 'completed')).toMatchObject({ send_count: 1, send_outcome: null });
    expect(await payouts.balanceOf(payout)).toBe(0);
    expect(await payouts.atBank(payout)).toMatchObject({ send_calls: 1 });
    expect(await payouts.directionsOf(payout)).toEqual(['out']);
    const { breaks } = await verifyLedger(service.db, { all: true });
    expect(breaks.filter(({ detail }) => detail.includes(payout.payoutId))).toEqual([]);
    expect((await runRecovery()).payoutRows.rebuilt).toBe(0);
  });

  it('writes a payout again that is lost twice, as it was requested', async () => {
    const payout = await payouts.requested(ORDINARY);
    for (const isRejectedMeanwhile of [true, false]) {
      await payouts.waitFor(payout, 'completed');
      await payouts.workflowOf(payout).result();
      await loseRow(payout);
      if (isRejectedMeanwhile) await payouts.request(payout, ANOTHER_BALANCE);
      const recovery = await runRecovery();
      expect(referenceFailures(recovery, payout)).toEqual([]);
      expect(recovery.payoutRows.rebuilt).toBe(1);
      expect(await payouts.recordedOf(payout)).toMatchObject({ terms: { grossRupiah: NET_RUPIAH } });
    }
  });

  it('a payout that the bank has never had is written again, and an operator resolves it as failed', async () => {
    await service.injectFault('transfer', 'reset');
    const payout = await payouts.requested(ORDINARY);
    await payouts.waitFor(payout, 'submitted');
    await loseRow(payout);
    await runRecovery();
    await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.attentionReason?.includes('The bank does not know the payout') ?? false,
    );
    expect(await payouts.perform(payout, 'cancel')).toMatchObject({ outcome: 'rejected' });
    expect(await payouts.perform(payout, 'resolveAsFailed')).toMatchObject({ outcome: 'done' });
    expect(await payouts.balanceOf(payout)).toBe(NET_RUPIAH);
    expect(await payouts.atBank(payout)).toBeUndefined();
  });

  it('writes a payout again whose policy and payouts account are lost too, with those in force', async () => {
    const [providerAccountId, payoutPolicyId] = [randomUUID(), 1_000];
    await asSuperuser(
      service.db,
      `update provider_accounts set status = 'disabled' where id = '${payouts.accountId}'`,
      `insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key, sealed_credentials)
       values ('${providerAccountId}', 'payouts', 'snap-midtrans', 'http://127.0.0.1:9', 'none', 'none')`,
      `insert into payout_policies (id, rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
         expected_within_seconds, is_enabled) overriding system value
       values (${payoutPolicyId}, 'bi_fast', 2, ${FEE_RUPIAH}, 10000, '00:00', '24:00', 'every', 60, true)`,
    );
    const payout = await payouts.newShop(ORDINARY);
    const result = await payouts.request(payout, { providerAccountId, payoutPolicyId });
    await payouts.waitFor(payout, 'approved');
    await asSuperuser(
      service.db,
      `delete from payout_policies where id = ${payoutPolicyId}`,
      `delete from provider_accounts where id = '${providerAccountId}'`,
      `update provider_accounts set status = 'enabled' where id = '${payouts.accountId}'`,
    );
    expect(result).toMatchObject({ outcome: 'requested' });
    await loseRow(payout);
    expect(referenceFailures(await runRecovery(), payout)).toEqual([]);
    const terms = { providerAccountId: payouts.accountId, grossRupiah: NET_RUPIAH };
    expect(await payouts.recordedOf(payout)).toMatchObject({ terms, state: { status: 'submitted' } });
  });

  it('a payout whose bank account is lost too: its merchant is on hold, and an exception has the amount', async () => {
    const payout = await payouts.requested(ORDINARY);
    await payouts.waitFor(payout, 'completed');
    await payouts.workflowOf(payout).result();
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

    // A minute later, when a reconciliation sees the workflow.
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 60_000);
    const breaksOfPayout = async () =>
      (await reconcile(service, { isRecovering: true })).breaks.filter(({ paymentId }) => paymentId === payoutId);
    expect(await breaksOfPayout()).toHaveLength(1);
    const [exception] = await listExceptionsOf(service.db, referenceId);
    await resolveByOperator(service, actor, exception?.id ?? '', {
      note: 'the bank has never had it',
      isRefunded: false,
    });
    const again = await runRecovery();
    expect([again.lostPayouts, referenceFailures(again, payout)]).toEqual([[], []]);
    expect(await breaksOfPayout()).toEqual([]);
    now.mockRestore();
    const orphans = await listExceptionsOf(service.db, payoutWorkflowId(payoutId));
    expect(orphans).toMatchObject([{ resolvedBy: 'reconciliation' }]);
  });
});
