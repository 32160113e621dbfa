import { randomUUID } from 'node:crypto';
import { fixValue, openFixed } from '../../../src/crypto/fixed-value';
import { createSealer, type Sealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { onlyRow } from '../../../src/db/connection/require-row';
import { stopBankAccount } from '../../../src/db/transitions/bank-account-transitions';
import { FINAL_BANK_ACCOUNT_STATUSES } from '../../../src/domain/bank-account-transitions';
import { ConflictError } from '../../../src/errors';
import { listNotices } from '../../../src/services/merchants/notices';
import { requireDone } from '../../../src/services/operations/require-done';
import { addBankAccount, findProposalRejection } from '../../../src/services/payouts/add-bank-account';
import { approveBankAccount, reactivateBankAccount } from '../../../src/services/payouts/approve-bank-account';
import { findBankAccount, listBankAccounts } from '../../../src/services/payouts/bank-accounts';
import { disableBankAccount } from '../../../src/services/payouts/disable-bank-account';
import { showBankAccount, verifyBankAccount } from '../../../src/services/payouts/show-bank-account';
import { rejectBankAccount, suspendBankAccount } from '../../../src/services/payouts/stop-bank-account';
import { withdrawBankAccount } from '../../../src/services/payouts/withdraw-bank-account';
import { resealAll } from '../../../src/services/recovery/reseal';
import { seedPayouts } from '../../../src/services/sandbox/seed-payouts';
import { bankAccountWorkflowId } from '../../../workflows/ids';
import { memberOf, osUser } from '../../support/actors';
import { asSuperuser } from '../../support/backdate';
import { prepareBankAccount } from '../../support/bank-accounts';
import { collectLog } from '../../support/collect-log';
import { eventually } from '../../support/eventually';
import { fetchDecodedHistory, recordHistory } from '../../support/history';
import { createMember, createShop } from '../../support/people';
import { newMasterKey, newNamespace, startTestService, type TestService } from '../../support/service';
import { tablesWith } from '../../support/tables-with';

const SARI = osUser('sari');
const NOTE = 'contract 12';
const ORDINARY = '1234567890';

let service: TestService;
let sealer: Sealer;
/** As the processes have them. */
let dashboard: Pool;
let operators: Pool;
const logged = collectLog();

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { log: logged.log });
  sealer = createSealer(service.masterKey);
  dashboard = createPool(service.dashboardDatabaseUrl, { max: 8 });
  operators = createPool(service.operatorDatabaseUrl, { max: 4 });
  await seedPayouts({ db: operators, sealer, sandboxUrl: service.sandboxUrl, apiUrl: service.apiUrl });
});
afterAll(async () => {
  await Promise.all([dashboard.end(), operators.end()]);
  await service.close();
});

const ofMembers = () => ({ db: dashboard, sealer, log: logged.log, workflows: service.workflows });
const ofOperators = () => ({ db: operators, sealer, log: logged.log, workflows: service.workflows });
const on = (bankAccountId: string) => ({ path: { bankAccountId }, input: {}, formId: randomUUID(), note: NOTE });

interface Owner {
  readonly userId: string;
  readonly merchantId: string;
}

async function newOwner(name = 'Toko Demo Lunas'): Promise<Owner> {
  const { id: merchantId } = await createShop(service.db, name);
  return { merchantId, userId: await createMember(service.db, `${randomUUID()}@shop.test`, [[merchantId, 'owner']]) };
}

const ownerOf = (owner: Owner) => memberOf({ ...owner, role: 'owner' });

async function add(owner: Owner, number = ORDINARY, bankCode = '014', formId = randomUUID()): Promise<string> {
  const call = { path: { merchant: owner.merchantId }, input: { bankCode, number }, formId };
  return requireDone(await addBankAccount.run(ofMembers(), ownerOf(owner), call));
}

const addByOperator = async (merchant: string, number: string) => {
  const call = { path: { merchant }, input: { bankCode: '008', number }, formId: randomUUID(), note: NOTE };
  return requireDone(await addBankAccount.run(ofOperators(), SARI, call));
};

const withdraw = async (owner: Owner, id: string) =>
  requireDone(await withdrawBankAccount.run(ofMembers(), ownerOf(owner), on(id)));
const disable = async (owner: Owner, id: string) =>
  requireDone(await disableBankAccount.run(ofMembers(), ownerOf(owner), on(id)));
const suspend = async (id: string) => requireDone(await suspendBankAccount.run(ofOperators(), SARI, on(id)));
const reactivate = async (id: string) => requireDone(await reactivateBankAccount.run(ofOperators(), SARI, on(id)));
const verify = async (id: string) => requireDone(await verifyBankAccount.run(ofOperators(), SARI, on(id)));
const show = async (id: string) => requireDone(await showBankAccount.run(ofOperators(), SARI, on(id)));

const find = (id: string) => findBankAccount({ db: dashboard, sealer }, id, null);
const waitFor = (id: string, status: string) =>
  eventually(
    () => find(id),
    (account) => account.status === status,
  );

async function addInquired(owner: Owner, number?: string): Promise<string> {
  const id = await add(owner, number);
  await waitFor(id, 'pending_approval');
  return id;
}

const requestApproval = (id: string, confirmedName?: string) =>
  approveBankAccount.run(ofOperators(), SARI, { ...on(id), input: { confirmedName } });
const approve = async (id: string, confirmedName?: string) => requireDone(await requestApproval(id, confirmedName));

async function addActive(owner: Owner): Promise<string> {
  const id = await addInquired(owner);
  await approve(id);
  return id;
}

async function addSuspended(owner: Owner): Promise<string> {
  const id = await addActive(owner);
  await suspend(id);
  return id;
}

describe('the name inquiry at the bank', () => {
  it.each([
    [ORDINARY, 'pending_approval', { holderName: 'TOKO DEMO LUNAS', nameMatch: 'same', failureReason: null }],
    ['9900000060', 'pending_approval', { holderName: 'PT NAMA LAIN', nameMatch: 'different' }],
    ['9900000061', 'rejected', { holderName: null, failureReason: '4031618 Inactive Account' }],
    ['9900000062', 'rejected', { holderName: null, failureReason: '4041611 Invalid Account' }],
    ['9900000063', 'pending_approval', { holderName: 'TOKO DEMO LUNAS' }],
  ])('the inquiry of account %s ends as %s', async (number, status, expected) => {
    const id = await add(await newOwner(), number);
    expect(await waitFor(id, status)).toMatchObject({ ...expected, lastFour: number.slice(-4), bankCode: '014' });
  });

  it('an inquiry without a response is repeated, needs attention, and can be withdrawn meanwhile', async () => {
    const owner = await newOwner();
    const id = await add(owner, '9900000064');
    await eventually(
      () => service.client.workflow.getHandle(bankAccountWorkflowId(id)).describe(),
      ({ raw }) =>
        (raw.pendingActivities ?? []).some(({ lastFailure }) => lastFailure?.message?.includes('indeterminate')),
    );
    expect(await find(id)).toMatchObject({ status: 'pending_inquiry' });
    await withdraw(owner, id);
    const handle = service.client.workflow.getHandle(bankAccountWorkflowId(id));
    expect(await handle.result()).toEqual({ status: 'withdrawn' });
  });

  it('starts by itself if Temporal was away when the account was added', async () => {
    const owner = await newOwner();
    const bankAccounts = { start: () => Promise.reject(new Error('Temporal is away')) };
    const call = { path: { merchant: owner.merchantId }, input: { bankCode: '014', number: ORDINARY } };
    const isAway = { ...ofMembers(), workflows: { bankAccounts } };
    const id = requireDone(await addBankAccount.run(isAway, ownerOf(owner), { ...call, formId: randomUUID() }));
    await service.db.query("update bank_accounts set updated_at = now() - interval '1 minute' where id = $1", [id]);
    expect(await waitFor(id, 'pending_approval')).toMatchObject({ holderName: 'TOKO DEMO LUNAS' });
  });

  it('names other merchants with the same account, and none whose number only ends alike', async () => {
    const [first, second, third] = [await newOwner('Toko Satu'), await newOwner('Toko Dua'), await newOwner()];
    const number = `77${Date.now()}`;
    await addInquired(first, number);
    await addInquired(third, `88${number}`);
    const id = await addInquired(second, number);
    expect(await show(id)).toMatchObject({
      sameNumberMerchants: ['Toko Satu'],
    });
  });

  it('attack: for another merchant than that of the account is rejected', async () => {
    const id = await addInquired(await newOwner());
    const { merchantId } = await newOwner();
    // A run that has not ended would be joined.
    await service.client.workflow.getHandle(bankAccountWorkflowId(id)).result();
    await expect(service.workflows.bankAccounts.inquire({ bankAccountId: id, merchantId })).rejects.toThrow(/failed/);
    expect(await find(id)).toMatchObject({ status: 'pending_approval', version: 2 });
  });

  it('another match of the name is a new version of a proposal, and the same one is not', async () => {
    const owner = await newOwner();
    const { merchantId } = owner;
    const id = await addInquired(owner);
    const inquire = async () => {
      await service.client.workflow.getHandle(bankAccountWorkflowId(id)).result();
      await service.workflows.bankAccounts.inquire({ bankAccountId: id, merchantId });
      return (await find(id)).version;
    };
    expect(await inquire()).toBe(2);
    await service.db.query("update merchants set name = 'Warung Lain' where id = $1", [merchantId]);
    expect(await inquire()).toBe(3);
    expect(await inquire()).toBe(3);
  });

  it('the history of an inquiry can be replayed by a later version of the workflow', async () => {
    const id = await addInquired(await newOwner());
    const handle = service.client.workflow.getHandle(bankAccountWorkflowId(id));
    expect(await handle.result()).toEqual({ status: 'pending_approval' });
    await recordHistory(service.client, bankAccountWorkflowId(id), 'bank-account-verified');
  });
});

describe('an approval', () => {
  it('starts the cool-down of the newest limit, and replaces the account in use', async () => {
    const owner = await newOwner();
    const first = await addActive(owner);
    const account = await find(first);
    expect(account.usableFrom?.getTime()).toBe(account.updatedAt.getTime() + 10_000);

    const second = await addInquired(owner);
    expect(await find(first)).toMatchObject({ status: 'active' });
    expect(await approve(second)).toEqual({ status: 'active', version: 3, replacedId: first });
    expect(
      (await listBankAccounts({ db: dashboard, sealer }, owner.merchantId)).map(({ id, status }) => [id, status]),
    ).toEqual([
      [second, 'active'],
      [first, 'replaced'],
    ]);
    const { steps } = await show(first);
    expect(steps.map(({ name, fromStatus, toStatus, actor }) => [name, fromStatus, toStatus, actor])).toEqual([
      ['add', null, 'pending_inquiry', `user:${owner.userId}`],
      ['verify', 'pending_inquiry', 'pending_approval', 'workflow'],
      ['approve', 'pending_approval', 'active', 'cli:sari'],
      ['replace', 'active', 'replaced', 'cli:sari'],
    ]);
  });

  it('names the status in which the account in use was replaced, also if it is suspended meanwhile', async () => {
    const owner = await newOwner();
    const [first, second] = [await addActive(owner), await addInquired(owner)];
    const suspending = await service.db.connect();
    try {
      await suspending.query('begin');
      const change = { id: first, merchantId: null, version: null, at: new Date(), actor: 'workflow' } as const;
      await stopBankAccount(suspending, 'suspend', change, 'The bank reports that it is closed.');
      const approved = approve(second);
      await eventually(
        () =>
          suspending.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        ({ rowCount }) => rowCount === 1,
      );
      await suspending.query('commit');
      expect(await approved).toMatchObject({ replacedId: first });
    } finally {
      suspending.release();
    }
    const { steps } = await show(first);
    expect(steps.slice(-2).map(({ fromStatus, toStatus }) => [fromStatus, toStatus])).toEqual([
      ['active', 'suspended'],
      ['suspended', 'replaced'],
    ]);
  });

  it('an approval of another name than the merchant has needs the name as the bank reports it', async () => {
    const id = await addInquired(await newOwner(), '9900000060');
    const rejection = { reason: 'name_not_confirmed', nameMatch: 'different' };
    expect(await requestApproval(id)).toMatchObject({ outcome: 'rejected', rejection });
    expect(await requestApproval(id, 'TOKO DEMO LUNAS')).toMatchObject({ outcome: 'rejected', rejection });
    expect(await find(id)).toMatchObject({ status: 'pending_approval' });
    await approve(id, 'PT NAMA LAIN');
    expect(await find(id)).toMatchObject({ status: 'active' });
  });

  it('ten operators who approve one proposal at the same time approve it once', async () => {
    const owner = await newOwner();
    await addActive(owner);
    const id = await addInquired(owner);
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => approve(id)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await find(id)).toMatchObject({ status: 'active', version: 3 });
  });

  it('an approval and a concurrent withdrawal: one wins, and the account in use stays or is replaced', async () => {
    for (let round = 0; round < 5; round += 1) {
      const owner = await newOwner();
      const inUse = await addActive(owner);
      const id = await addInquired(owner);
      const outcomes = await Promise.allSettled([approve(id), withdraw(owner, id)]);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const { status } = await find(id);
      expect(await find(inUse)).toMatchObject({ status: status === 'active' ? 'replaced' : 'active' });
    }
  });

  it('a second account in use is impossible, whatever the statement is', async () => {
    const owner = await newOwner();
    await addActive(owner);
    const id = await addInquired(owner);
    const activate = service.db.query("update bank_accounts set status = 'active', usable_from = now() where id = $1", [
      id,
    ]);
    await expect(activate).rejects.toMatchObject({ code: '23505' });
  });
});

describe('a proposal', () => {
  it('one of twenty proposals at the same time is written', async () => {
    const owner = await newOwner();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => add(owner)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await listBankAccounts({ db: dashboard, sealer }, owner.merchantId)).toHaveLength(1);
    expect(await findProposalRejection(dashboard, owner)).toBe('proposal_open');
  });

  it('a proposal that is sent twice is one account', async () => {
    const owner = await newOwner();
    const formId = randomUUID();
    await add(owner, ORDINARY, '014', formId);
    await add(owner, ORDINARY, '014', formId);
    expect(await listBankAccounts({ db: dashboard, sealer }, owner.merchantId)).toHaveLength(1);
  });

  it.each([
    ['014', '1234', 'number'],
    ['014', '123456789012345678901', 'number'],
    ['014', '12345 67890', 'number'],
    ['999', ORDINARY, 'bankCode'],
  ])('a proposal to bank %s with the number %s is invalid', async (bankCode, number, field) => {
    await expect(add(await newOwner(), number, bankCode)).rejects.toMatchObject({ issues: [{ path: [field] }] });
  });

  it('belongs to its merchant: an owner of another one neither sees, withdraws nor disables it', async () => {
    const [owner, stranger] = [await newOwner(), await newOwner()];
    const id = await addInquired(owner);
    await expect(findBankAccount({ db: dashboard, sealer }, id, stranger.merchantId)).rejects.toMatchObject({ id });
    await expect(withdraw(stranger, id)).rejects.toMatchObject({ kind: 'bankAccount' });
    await approve(id);
    await expect(disable(stranger, id)).rejects.toMatchObject({ kind: 'bankAccount' });
    expect(await find(id)).toMatchObject({ status: 'active' });
  });

  it('a proposal can come from an operator', async () => {
    const { merchantId } = await newOwner();
    const id = await addByOperator(merchantId, ORDINARY);
    expect(await waitFor(id, 'pending_approval')).toMatchObject({ proposedBy: 'cli:sari', bankCode: '008' });
  });
});

describe('each transition is possible only from its statuses', () => {
  const prepare: Readonly<Record<string, (owner: Owner) => Promise<string>>> = {
    pending_inquiry: (owner) => add(owner, '9900000064'),
    pending_approval: (owner) => addInquired(owner),
    active: addActive,
    suspended: addSuspended,
    rejected: async (owner) => {
      const id = await add(owner, '9900000061');
      await waitFor(id, 'rejected');
      return id;
    },
    withdrawn: async (owner) => {
      const id = await addInquired(owner);
      await withdraw(owner, id);
      return id;
    },
    disabled: async (owner) => {
      const id = await addActive(owner);
      await disable(owner, id);
      return id;
    },
    replaced: async (owner) => {
      const id = await addActive(owner);
      await addActive(owner);
      return id;
    },
  };
  const ACTIONS = {
    withdraw: (id: string, owner: Owner) => withdraw(owner, id),
    disable: (id: string, owner: Owner) => disable(owner, id),
    approve: (id: string) => approve(id),
    reject: async (id: string) => requireDone(await rejectBankAccount.run(ofOperators(), SARI, on(id))),
    suspend,
    reactivate,
    'disable by an operator': async (id: string) =>
      requireDone(await disableBankAccount.run(ofOperators(), SARI, on(id))),
  } as const;
  const POSSIBLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    pending_inquiry: { withdraw: 'withdrawn', reject: 'rejected' },
    pending_approval: { withdraw: 'withdrawn', reject: 'rejected', approve: 'active' },
    active: { suspend: 'suspended', disable: 'disabled', 'disable by an operator': 'disabled' },
    suspended: { reactivate: 'active', disable: 'disabled', 'disable by an operator': 'disabled' },
  };

  it.each(Object.keys(prepare))('%s', async (status) => {
    const outcomes: Record<string, string> = {};
    for (const [name, perform] of Object.entries(ACTIONS)) {
      const owner = await newOwner();
      const id = await prepare[status]?.(owner);
      if (id === undefined) throw new Error(`no account is ${status}`);
      const outcome = await perform(id, owner).then(
        () => 'done',
        (error: unknown) => (error instanceof ConflictError ? error.reason : String(error)),
      );
      const after = (await find(id)).status;
      const isUnchanged = outcome === 'not_allowed' && after === status;
      if (!isUnchanged) outcomes[name] = outcome === 'done' ? after : `${outcome}, ${after}`;
    }
    expect(outcomes).toEqual(POSSIBLE[status] ?? {});
  });

  it('a final status stays, whatever the statement is', async () => {
    const id = await prepare.withdrawn?.(await newOwner());
    expect(FINAL_BANK_ACCOUNT_STATUSES).toEqual(['rejected', 'withdrawn', 'replaced', 'disabled']);
    await expect(
      service.db.query("update bank_accounts set status = 'active', usable_from = now() where id = $1", [id]),
    ).rejects.toMatchObject({ code: '23001' });
  });
});

describe('an account that is suspended', () => {
  it('a suspended account is reactivated only with an inquiry of the last day, and has a new cool-down', async () => {
    const id = await addSuspended(await newOwner());
    await service.db.query("update bank_accounts set inquired_at = now() - interval '25 hours' where id = $1", [id]);
    await expect(reactivate(id)).rejects.toThrow(/older than 24 hours/);
    // The workflow of the first inquiry may still be closing: its result is not newer.
    const verified = await eventually(
      () => verify(id),
      ({ inquiredAt }) => Date.now() - (inquiredAt?.getTime() ?? 0) < 3_600_000,
    );
    expect(verified).toMatchObject({ status: 'suspended', holderName: 'TOKO DEMO LUNAS' });
    const before = await find(id);
    await reactivate(id);
    const after = await find(id);
    expect(after.usableFrom?.getTime()).toBeGreaterThan(before.usableFrom?.getTime() ?? Infinity);
  });

  it('a suspended account that the bank does not know any more stays suspended', async () => {
    const id = await addSuspended(await newOwner());
    const { merchantId, bankCode } = await find(id);
    const closed = fixValue(sealer, '9900000061', ['bank-account-number', id, merchantId, bankCode]);
    await asSuperuser(service.db, {
      text: "update bank_accounts set sealed_number = $2, number_hmac = $3, last_four = '0061' where id = $1",
      values: [id, closed.sealed, closed.hash],
    });
    expect(await verify(id)).toMatchObject({
      status: 'suspended',
      failureReason: '4031618 Inactive Account',
      inquiredAt: null,
    });
    await expect(reactivate(id)).rejects.toMatchObject({ reason: 'not_allowed' });
  });
});

it('each status is a notice for every owner, by bank and last digits', async () => {
  const owner = await newOwner();
  const first = await addActive(owner);
  await addActive(owner);
  // Before, a second owner would have to confirm the accounts.
  const other = await createMember(service.db, `${randomUUID()}@shop.test`, [[owner.merchantId, 'owner']]);
  await service.db.query("update members set created_at = now() - interval '1 hour' where merchant_id = $1", [
    owner.merchantId,
  ]);
  await disable(owner, (await listBankAccounts({ db: dashboard, sealer }, owner.merchantId))[0]?.id ?? '');
  for (const userId of [owner.userId, other]) {
    const notices = await listNotices(dashboard, { merchantId: owner.merchantId, userId });
    expect(new Set(notices.map(({ targetName }) => targetName))).toEqual(new Set(['BCA •••• 7890']));
    expect(notices.filter(({ targetId }) => targetId === first).map(({ kind }) => kind)).toEqual([
      'bank_account.replaced',
      'bank_account.active',
      'bank_account.pending_inquiry',
    ]);
    expect(notices[0]).toMatchObject({ kind: 'bank_account.disabled' });
  }
});

it('attack: the bank is not asked about another number than the one that was proposed', async () => {
  const [proposed, active] = [await newOwner(), await newOwner()];
  const inUse = await addActive(active);
  const waiting = await prepareBankAccount(service, proposed.merchantId, 'pending_inquiry');
  for (const id of [waiting, inUse]) {
    const { merchantId, bankCode } = await find(id);
    // It ends as the other one.
    const own = sealer.seal('6661117890', ['bank-account-number', id, merchantId, bankCode]);
    const change = { text: 'update bank_accounts set sealed_number = $2 where id = $1', values: [id, own] };
    await asSuperuser(service.db, change);
  }
  const countAsked = () => {
    const lines = logged.text().split('\n');
    const isAbout = (line: string) => [waiting, inUse].some((id) => line.includes(id));
    return lines.filter((line) => line.includes('inquire_account') && isAbout(line)).length;
  };
  const asked = countAsked();
  await service.workflows.bankAccounts.inquire({ bankAccountId: waiting, merchantId: proposed.merchantId });
  expect(await find(waiting)).toMatchObject({
    status: 'rejected',
    failureReason: expect.stringContaining('Add the account again.'),
  });
  expect(await verify(inUse)).toMatchObject({
    status: 'active',
    inquiredAt: null,
    failureReason: expect.stringContaining('is not the one that was added'),
  });
  expect(countAsked()).toBe(asked);
  expect(logged.text()).toContain('bank account number changed');
  expect(logged.text()).not.toContain('6661117890');
});

describe('attack: a dashboard that does what it should not', () => {
  it.each(["status = 'active'", "status = 'pending_approval'", "status = 'suspended'"])(
    'a dashboard cannot set %s',
    async (change) => {
      const id = await addInquired(await newOwner());
      await expect(dashboard.query(`update bank_accounts set ${change} where id = '${id}'`)).rejects.toMatchObject({
        code: '42501',
      });
    },
  );

  it('a dashboard or a command cannot replace a number by another one that is sealed for the account', async () => {
    const id = await addInquired(await newOwner());
    const { merchantId, bankCode } = await find(id);
    const other = sealer.seal('5555555555', ['bank-account-number', id, merchantId, bankCode]);
    const change = 'update bank_accounts set sealed_number = $2 where id = $1';
    await expect(operators.query(change, [id, other])).rejects.toMatchObject({ code: '23001' });
  });
});

it('canary: a number is in clear nowhere: database, log, histories, and what pages read', async () => {
  const canary = `4711${Date.now()}081`;
  const owner = await newOwner();
  const id = await addInquired(owner, canary);
  await approve(id);
  await suspend(id);
  await verify(id);
  await addByOperator(owner.merchantId, canary);
  expect(await tablesWith(service.db, id)).toContain('bank_accounts');
  expect(await tablesWith(service.db, canary)).toEqual([]);
  expect(logged.text()).toContain('inquire_account');
  expect(logged.text()).not.toContain(canary);
  const history = JSON.stringify(await fetchDecodedHistory(service.client, bankAccountWorkflowId(id)));
  expect(history).not.toContain(canary);
  expect(history).not.toContain(Buffer.from(canary).toString('base64').slice(0, 16));
  expect(JSON.stringify(await show(id))).not.toContain(canary);
});

it('the numbers and the names are sealed again with a new master key, and open', async () => {
  const id = await addInquired(await newOwner());
  const newKey = newMasterKey();
  const newSealer = createSealer(newKey, [service.masterKey]);
  const client = await operators.connect();
  try {
    await client.query('begin');
    await resealAll(client, newSealer, () => undefined);
    const { rows } = await client.query<{ sealed: string; hash: string; merchant: string }>(
      'select sealed_number as sealed, number_hmac as hash, merchant_id as merchant from bank_accounts where id = $1',
      [id],
    );
    const { merchant, ...fixed } = onlyRow(rows);
    const open = (account: string) =>
      openFixed({ db: client, sealer: createSealer(newKey) }, fixed, ['bank-account-number', account, merchant, '014']);
    expect(await open(id)).toBe(ORDINARY);
    // The hash has the key of the first sealing, which is kept.
    expect(fixed.hash).toContain(sealer.keys.current.id);
    expect(await findBankAccount({ db: client, sealer: newSealer }, id, null)).toMatchObject({
      holderName: 'TOKO DEMO LUNAS',
    });
  } finally {
    await client.query('rollback');
    client.release();
  }
});
