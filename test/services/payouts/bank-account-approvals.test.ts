import { randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { onlyRow } from '../../../src/db/connection/require-row';
import { findProposedSettings } from '../../../src/db/payouts/payout-settings';
import {
  recordFailedInquiry,
  recordHolder,
  verifyBankAccount,
  type InquiredHolder,
} from '../../../src/db/transitions/bank-account-transitions';
import type { OperatorActor } from '../../../src/domain/actor';
import type { PayoutSettings } from '../../../src/domain/payout-schedule';
import { listActions } from '../../../src/services/audit/list-actions';
import { listApprovals } from '../../../src/services/audit/list-approvals';
import { requireDone } from '../../../src/services/operations/require-done';
import { addBankAccount, findProposalRejection } from '../../../src/services/payouts/add-bank-account';
import { approveBankAccount } from '../../../src/services/payouts/approve-bank-account';
import { approvePayoutSettings } from '../../../src/services/payouts/approve-payout-settings';
import { findBankAccount } from '../../../src/services/payouts/bank-accounts';
import { confirmBankAccount } from '../../../src/services/payouts/confirm-bank-account';
import { getPayoutSettings } from '../../../src/services/payouts/payout-settings';
import { setPayoutSettings } from '../../../src/services/payouts/set-payout-settings';
import { showBankAccount } from '../../../src/services/payouts/show-bank-account';
import { withdrawBankAccount } from '../../../src/services/payouts/withdraw-bank-account';
import { memberOf, operatorOf } from '../../support/actors';
import { approve } from '../../support/approve';
import { SILENT } from '../../support/collect-log';
import { createProductionDatabase, type TestDatabase } from '../../support/database';
import { NOTHING_TO_SEAL } from '../../support/deciding';
import { ageMembers, createMember, createShop } from '../../support/people';
import { createOperatorWithLogin, urlOfOperator } from '../../support/production';
import { newMasterKey } from '../../support/service';
import { useInvitation } from '../../support/team';

/* In production two operators approve a bank account. A new member proposes none, and starts no automatic payouts. */

const sealer = createSealer(newMasterKey());
const HOLDER = 'TOKO BARU';
const DAY_MS = 86_400_000;

let database: TestDatabase;
let owner: Pool;
let operators: Pool;
let deciders: Pool; // with another login
let dashboard: Pool;
let dewi: OperatorActor;
let budi: OperatorActor;
let user: { readonly userId: string; readonly merchantId: string };

beforeEach(async () => {
  database = await createProductionDatabase();
  owner = createPool(database.url, { max: 2 });
  operators = createPool(database.urlOf('lunas_local_operator'), { max: 4 });
  deciders = createPool(await urlOfOperator(database, 'budi'), { max: 4 });
  dashboard = createPool(database.urlOf('lunas_local_dashboard'), { max: 2 });
  [dewi, budi] = [await addOperator('dewi'), await addOperator('budi')];
  const { id: merchantId } = await createShop(owner);
  user = { merchantId, userId: await createMember(owner, 'owner@shop.test', [[merchantId, 'owner']]) };
});
afterEach(async () => {
  await Promise.all([owner, operators, deciders, dashboard].map((pool) => pool.end()));
  await database.drop();
});

const ownerOf = (person: typeof user) => memberOf({ ...person, role: 'owner' });
const setSchedule = (person: typeof user, input: PayoutSettings) =>
  setPayoutSettings.run({ db: dashboard }, ownerOf(person), { path: {}, input, formId: randomUUID() });
const rejectedFor = (reason: string) => expect.objectContaining({ outcome: 'rejected', rejection: { reason } });

async function addOperator(name: string): Promise<OperatorActor> {
  const { id } = await createOperatorWithLogin(database, owner, name);
  return operatorOf({ id, name });
}

const dependencies = () => ({ db: operators, sealer, log: SILENT });
const decide = (actor: OperatorActor, approvalId: number) =>
  approve(
    {
      db: deciders,
      log: SILENT,
      ...NOTHING_TO_SEAL,
      withWorkflows: () => Promise.reject(new Error('no workflow')),
    },
    actor,
    approvalId,
  );

const on = (bankAccountId: string) => ({
  path: { bankAccountId },
  input: {},
  formId: randomUUID(),
  note: 'contract 12',
});

function tryToPropose(by: typeof user) {
  const workflows = { bankAccounts: { start: () => Promise.resolve() } };
  const input = { bankCode: '014', number: '1234567890' };
  const call = { path: { merchant: by.merchantId }, input, formId: randomUUID() };
  return addBankAccount.run({ db: dashboard, sealer, log: SILENT, workflows }, ownerOf(by), call);
}

const propose = async (by = user) => requireDone(await tryToPropose(by));
const withdraw = async (id: string) =>
  requireDone(await withdrawBankAccount.run({ db: dashboard }, ownerOf(user), on(id)));
const show = async (id: string) => requireDone(await showBankAccount.run(dependencies(), budi, on(id)));

/** As the workflow records what the bank reports. */
async function proposeInquired(): Promise<string> {
  const id = await propose();
  const change = { id, merchantId: null, version: null, at: new Date(), actor: 'workflow' } as const;
  const sealedHolderName = sealer.seal(HOLDER, ['bank-account-holder', id]);
  await verifyBankAccount(owner, change, { sealedHolderName, nameMatch: 'same', sameNumberMerchants: [] });
  return id;
}

const request = async (id: string) => requireDone(await approveBankAccount.run(dependencies(), dewi, on(id)));
const find = (id: string) => findBankAccount({ db: operators }, id, null);
const statusOf = async (id: string) => (await find(id)).status;
const versionOf = async (id: string) => (await find(id)).version;

it('an account becomes active only after a second operator; the log has both names, the merchant none', async () => {
  const id = await proposeInquired();
  expect(await show(id)).toMatchObject({
    merchantName: 'Toko Baru',
    holderName: HOLDER,
  });
  await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required', data: { approvalId: '1' } });
  expect(await statusOf(id)).toBe('pending_approval');
  await expect(decide(dewi, 1)).rejects.toThrow(/another operator/);
  expect(await statusOf(id)).toBe('pending_approval');
  expect(await decide(budi, 1)).toMatchObject({ status: 'executed', requestedBy: 'dewi', decidedBy: 'budi' });
  const account = await findBankAccount(dependencies(), id, null);
  expect(account).toMatchObject({ status: 'active', version: 3 });
  expect(account.usableFrom?.getTime()).toBe(account.updatedAt.getTime() + DAY_MS);
  const { steps } = await show(id);
  expect(steps.at(-1)).toMatchObject({
    name: 'approve',
    actor: 'operator:budi',
    note: 'contract 12 (requested by operator:dewi)',
  });
  const action = (await listActions(operators, { limit: 20 })).find(({ action }) => action === 'bank_account.approve');
  expect(action).toMatchObject({ actor: 'operator:budi', detail: expect.stringContaining('operator:dewi') });
  expect((await listApprovals(operators, { onlyOpen: false, limit: 9 }))[0]?.target).toBe(
    `BCA •••• 7890 of Toko Baru, account ${id}`,
  );
  const { rows: shown } = await dashboard.query('select action, target, outcome from merchant_operator_actions');
  expect(shown).toEqual([{ action: 'bank_account.approve', target: id, outcome: 'succeeded' }]);
});

it('an approval of a proposal that was withdrawn meanwhile fails', async () => {
  const id = await proposeInquired();
  await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
  await withdraw(id);
  await expect(decide(budi, 1)).rejects.toMatchObject({ reason: 'not_allowed' });
  expect(await statusOf(id)).toBe('withdrawn');
});

it('an approval of another version than both operators have seen changes nothing', async () => {
  const id = await proposeInquired();
  await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
  await owner.query('update bank_accounts set version = version + 1 where id = $1', [id]);
  await expect(decide(budi, 1)).rejects.toMatchObject({ reason: 'not_allowed' });
  expect(await statusOf(id)).toBe('pending_approval');
});

it.each([
  ['another holder', "sealed_holder_name || 'x'", 'name_match', 'same_number_merchants'],
  ['another match of the names', 'sealed_holder_name', "'similar'", 'same_number_merchants'],
  ['another merchant with the same account', 'sealed_holder_name', 'name_match', 'array[merchant_id]'],
])('an approval of an account that the bank reports with %s meanwhile changes nothing', async (_what, ...reported) => {
  const id = await proposeInquired();
  await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
  const inquire = async (columns: readonly string[]) => {
    const { rows } = await owner.query<InquiredHolder>(
      `select ${columns[0]} as "sealedHolderName", ${columns[1]} as "nameMatch", ${columns[2]} as "sameNumberMerchants"
       from bank_accounts where id = $1`,
      [id],
    );
    await recordHolder(owner, id, new Date(), onlyRow(rows));
  };
  await inquire(['sealed_holder_name', 'name_match', 'same_number_merchants']);
  expect(await versionOf(id)).toBe(2);
  await inquire(reported);
  expect(await versionOf(id)).toBe(3);
  await expect(decide(budi, 1)).rejects.toMatchObject({ reason: 'not_allowed' });
  expect(await statusOf(id)).toBe('pending_approval');
});

it('an approval of an account that the bank does not know any more changes nothing', async () => {
  const id = await proposeInquired();
  await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
  for (const version of [3, 3]) {
    await recordFailedInquiry(owner, id, 'The account is closed.');
    expect(await versionOf(id)).toBe(version);
  }
  await expect(decide(budi, 1)).rejects.toMatchObject({ reason: 'not_allowed' });
});

it('attack: no statement of the operators makes an account active without a second operator', async () => {
  const id = await proposeInquired();
  const activate = () =>
    operators.query("update bank_accounts set status = 'active', version = 3, usable_from = now() where id = $1", [id]);
  await expect(activate()).rejects.toMatchObject({ code: '23001' });
  await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
  await expect(activate()).rejects.toMatchObject({ code: '23001' });
  expect(await statusOf(id)).toBe('pending_approval');
});

it('attack: an approval of another account is of no use', async () => {
  const approved = await proposeInquired();
  await expect(request(approved)).rejects.toMatchObject({ reason: 'approval_required' });
  await decide(budi, 1);
  const other = await proposeInquired();
  await expect(
    operators.query("update bank_accounts set status = 'active', usable_from = now() where id = $1", [other]),
  ).rejects.toMatchObject({ code: '23001' });
});

it('the cool-down of production is at least a day', async () => {
  const insert = (seconds: number) =>
    operators.query('insert into payout_limits (cooldown_seconds) values ($1)', [seconds]);
  await expect(insert(86_399)).rejects.toMatchObject({ code: '23001', message: expect.stringContaining('a day') });
});

it('the first owner proposes immediately, and a member of less than a day does not', async () => {
  const newcomer = {
    merchantId: user.merchantId,
    userId: await createMember(owner, 'new@shop.test', [[user.merchantId, 'owner']]),
  };
  expect(await findProposalRejection(dashboard, newcomer)).toBe('member_too_new');
  expect(await tryToPropose(newcomer)).toEqual(rejectedFor('member_too_new'));
  await propose(user);
  await ageMembers(owner);
  expect(await findProposalRejection(dashboard, newcomer)).toBe('proposal_open');
});

it('a member of less than a day starts no automatic payouts, whatever the statement of the dashboard is', async () => {
  const newcomer = {
    merchantId: user.merchantId,
    userId: await createMember(owner, 'new@shop.test', [[user.merchantId, 'owner']]),
  };
  const daily = { schedule: 'daily', weekday: null, minimumRupiah: 50_000 } as const;
  expect(await setSchedule(newcomer, daily)).toEqual(rejectedFor('member_too_new'));
  const insert = (by: string) =>
    dashboard.query(
      `insert into payout_settings (merchant_id, schedule, changed_by, changed_at) values ($1, 'daily', $2, now())`,
      [user.merchantId, by],
    );
  await expect(insert('workflow')).rejects.toMatchObject({ code: 'LN001' });
  await expect(insert(`user:${newcomer.userId}`)).rejects.toMatchObject({ code: 'LN001' });
  expect(await getPayoutSettings(dashboard, user.merchantId)).toMatchObject({ schedule: 'manual' });

  expect(await setSchedule(user, daily)).toMatchObject({ outcome: 'done', value: 'saved' });
  expect(await getPayoutSettings(dashboard, user.merchantId)).toEqual(daily);
  await expect(insert(`user:${newcomer.userId}`)).rejects.toMatchObject({ code: 'LN001' });
  const { rows } = await owner.query('select kind, target_id as by from merchant_notices');
  expect(rows).toContainEqual({ kind: 'payout.schedule_changed', by: user.userId });
});

it('attack: no time that the dashboard writes makes a member an old one', async () => {
  const newcomer = { merchantId: user.merchantId, userId: await createMember(owner, 'new@shop.test') };
  const invited = { merchantId: user.merchantId, email: 'new@shop.test', role: 'finance' } as const;
  await useInvitation(dashboard, { ...invited, createdBy: `user:${user.userId}` });
  await dashboard.query(
    `insert into members (merchant_id, user_id, role, invited_by, created_at, role_since, first_added_at)
     values ($1, $2, 'finance', 'x', 'epoch', 'epoch', 'epoch')`,
    [newcomer.merchantId, newcomer.userId],
  );
  // Another role and back: the other member has its role for a shorter time then.
  for (const role of ['viewer', 'owner'])
    await dashboard.query('update members set role = $2, created_at = now() where user_id = $1', [user.userId, role]);
  expect(await findProposalRejection(dashboard, newcomer)).toBe('member_too_new');
  const { rows } = await owner.query('select authorises_payouts($1, $2) as "isAuthorised"', [
    newcomer.merchantId,
    newcomer.userId,
  ]);
  expect(rows).toEqual([{ isAuthorised: false }]);
});

it('a member who was removed proposes nothing', async () => {
  await owner.query('update members set removed_at = now()');
  expect(await tryToPropose(user)).toEqual(rejectedFor('member_too_new'));
});

describe('a merchant with two people', () => {
  const daily = { schedule: 'daily', weekday: null, minimumRupiah: 50_000 } as const;
  const manual = { ...daily, schedule: 'manual' } as const;
  let second: typeof user;
  beforeEach(async () => {
    second = {
      ...user,
      userId: await createMember(owner, 'second@shop.test', [[user.merchantId, 'finance']]),
    };
    await ageMembers(owner);
  });

  const confirm = (id: string, by = second) => confirmBankAccount.run({ db: dashboard }, ownerOf(by), on(id));
  const linkTo = (seenBy: typeof user) =>
    owner.query('update users set link_shown_to = $2 where id = $1', [second.userId, `user:${seenBy.userId}`]);

  it('an account becomes active only after the second member has confirmed it', async () => {
    const id = await proposeInquired();
    await expect(request(id)).rejects.toMatchObject({ reason: 'not_allowed' });
    expect(await confirm(id, user)).toEqual(rejectedFor('own_proposal'));
    expect(await confirm(id)).toMatchObject({ outcome: 'done' });
    expect(await confirm(id)).toEqual(rejectedFor('not_needed'));
    await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
    expect(await decide(budi, 1)).toMatchObject({ status: 'executed' });
    const { steps } = await show(id);
    expect(steps.map(({ name, actor }) => [name, actor]).slice(2)).toEqual([
      ['confirm', `user:${second.userId}`],
      ['approve', 'operator:budi'],
    ]);
  });

  it('a second member sees the name that the bank has reported before they confirm', async () => {
    expect(await confirm(await propose())).toEqual(rejectedFor('no_proposal'));
  });

  it('a second member does not confirm another holder than the one that they have seen', async () => {
    const id = await proposeInquired();
    const sealedHolderName = sealer.seal('PT NAMA LAIN', ['bank-account-holder', id]);
    const confirmIn = (version: number) =>
      confirmBankAccount.run({ db: dashboard }, ownerOf(second), { ...on(id), input: { version } });
    await recordHolder(owner, id, new Date(), { sealedHolderName, nameMatch: 'different', sameNumberMerchants: [] });
    expect(await confirmIn(2)).toEqual(rejectedFor('superseded'));
    expect(await confirmIn(3)).toMatchObject({ outcome: 'done' });
  });

  it('attack: no statement of the dashboard confirms in the name of who added it, or skips the inquiry', async () => {
    const waiting = await propose();
    const set = (id: string, assignments: string) =>
      dashboard.query(`update bank_accounts set ${assignments} where id = $1`, [id]);
    for (const by of [user, second]) {
      await expect(set(waiting, `confirmed_by = 'user:${by.userId}'`)).rejects.toMatchObject({ code: 'LN001' });
    }
    await expect(set(waiting, "status = 'pending_approval'")).rejects.toMatchObject({ code: '42501' });
    await withdraw(waiting);
    const id = await proposeInquired();
    await expect(set(id, `confirmed_by = 'user:${user.userId}'`)).rejects.toMatchObject({ code: 'LN001' });
    await linkTo(user);
    await expect(set(id, `confirmed_by = 'user:${second.userId}'`)).rejects.toMatchObject({ code: 'LN001' });
  });

  it('attack: an approval of two operators activates no account that the second member has not confirmed', async () => {
    await linkTo(user);
    const id = await proposeInquired();
    // No member counts: two operators decide.
    await expect(request(id)).rejects.toMatchObject({ reason: 'approval_required' });
    await owner.query('update users set link_shown_to = null');
    await expect(decide(budi, 1)).rejects.toMatchObject({ code: 'LN001' });
    expect(await statusOf(id)).toBe('pending_approval');
  });

  it('a schedule waits for the second member, and ends without', async () => {
    expect(await setSchedule(user, daily)).toMatchObject({ outcome: 'done', value: 'proposed' });
    const proposed = await findProposedSettings(dashboard, user.merchantId);
    expect(proposed).toMatchObject({ ...daily, proposedBy: `user:${user.userId}` });
    expect(await getPayoutSettings(dashboard, user.merchantId)).toMatchObject({ schedule: 'manual' });
    const seen = { path: {}, input: { proposal: proposed?.id ?? '' }, formId: randomUUID() };
    const approveBy = (by: typeof user) => approvePayoutSettings.run({ db: dashboard }, ownerOf(by), seen);
    expect(await approveBy(user)).toEqual(rejectedFor('own_proposal'));
    expect(await approveBy(second)).toMatchObject({ outcome: 'done' });
    expect(await getPayoutSettings(dashboard, user.merchantId)).toEqual(daily);
    expect(await approveBy(second)).toEqual(rejectedFor('superseded'));
    const { rows } = await owner.query("select kind from merchant_notices where kind like 'payout.%' order by id");
    expect(rows.map(({ kind }) => kind)).toEqual(['payout.schedule_proposed', 'payout.schedule_changed']);

    await setSchedule(user, { ...daily, minimumRupiah: 1 });
    expect(await setSchedule(second, manual)).toMatchObject({ outcome: 'done', value: 'saved' });
    expect(await getPayoutSettings(dashboard, user.merchantId)).toEqual(manual);
    expect(await findProposedSettings(dashboard, user.merchantId)).toBeUndefined();
  });

  it('attack: no statement of the dashboard starts automatic payouts with one voice', async () => {
    const insert = (approvedBy: string | null) =>
      dashboard.query(
        `insert into payout_settings (merchant_id, schedule, changed_by, approved_by, changed_at)
         values ($1, 'daily', $2, $3, now())`,
        [user.merchantId, `user:${user.userId}`, approvedBy],
      );
    const voices = [null, `user:${user.userId}`, 'operator:dewi'];
    for (const voice of voices) await expect(insert(voice)).rejects.toMatchObject({ code: 'LN001' });
    await linkTo(user);
    await expect(insert(`user:${second.userId}`)).rejects.toMatchObject({ code: 'LN001' });
    await expect(insert(null)).rejects.toMatchObject({ code: 'LN001' });
    expect(await setSchedule(user, daily)).toEqual(rejectedFor('none_counts'));
    await owner.query('update users set link_shown_to = null');
    await insert(`user:${second.userId}`);
  });
});
