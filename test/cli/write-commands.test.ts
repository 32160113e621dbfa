import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openException } from '../../src/db/operations/open-exception';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { createPaid, createPayment, statusOf, waitForStatus } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { runBuiltLunas } from '../support/lunas-process';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../support/service';
import { startTcpProxy } from '../support/tcp-proxy';
import { runLunas, type Outcome } from './run-lunas';

const UNKNOWN_ID = '0193e5c0-0000-7000-8000-000000000000';
const ME = `cli:${os.userInfo().username}`;

let service: TestService;
let environment: NodeJS.ProcessEnv;
let home: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-commands-'));
  environment = {
    PATH: process.env.PATH,
    LUNAS_HOME: home,
    ...operatorEnvironment(service),
  };
  const manual = { settlementKind: 'manual', settlementDelaySeconds: 0 } as const;
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', ...manual });
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true });
});

/** In this process. Commands that have to end while a server hangs run in their own. */
const lunas = (...args: string[]): Promise<Outcome> => runLunas(args, environment);

// Tests read any result.
// oxlint-disable-next-line typescript/no-explicit-any
function parse({ exitCode, stdout, stderr }: Outcome): any {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function createRejectedRefund(): Promise<{ id: string; reference_id: string }> {
  const payment = await createPaid(service);
  await service.injectFault('refund', 'reject');
  await service.call('POST', `/payments/${payment.id}/refund`);
  await waitForStatus(service, payment.id, 'refund_failed');
  return payment;
}

async function lastActionOn(target: string) {
  const { rows } = await service.db.query(
    `select actor, via, action, note, outcome from operator_actions
     left join operator_action_outcomes on action_id = id where target = $1 order by id desc limit 1`,
    [target],
  );
  return rows[0];
}

describe('lunas payments settle', () => {
  it('settles the given payments, prints each outcome, and fails if one was rejected', async () => {
    const [paid, pending] = [await createPaid(service), await createPayment(service)];
    const nowhere = 'LN0000000000000000';
    const { exitCode, stdout, stderr } = await lunas(
      'payments',
      'settle',
      paid.reference_id,
      pending.id,
      nowhere,
      '--note',
      'statement 7',
      '--json',
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'error: 2 of 3 were not settled.\n' });
    expect(JSON.parse(stdout).settlements).toEqual([
      { payment: paid.reference_id, outcome: 'settled', reason: null },
      { payment: pending.id, outcome: 'rejected', reason: 'A transaction that is "pending" cannot be settled.' },
      { payment: nowhere, outcome: 'rejected', reason: expect.stringContaining(`There is no payment ${nowhere}`) },
    ]);
    expect(await statusOf(service, paid.id)).toBe('settled');
    const { rows } = await service.db.query(
      "select actor, note from payment_transitions where payment_id = $1 and name = 'settle'",
      [paid.id],
    );
    expect(rows).toEqual([{ actor: ME, note: 'statement 7' }]);
    const done = { actor: ME, via: 'cli', action: 'payment.settle', note: 'statement 7' };
    expect(await lastActionOn(paid.id)).toEqual({ ...done, outcome: 'succeeded' });
    expect(await lastActionOn(pending.id)).toEqual({ ...done, outcome: 'rejected' });
  });

  it('fails a payment that no rule can close, and requires a note', async () => {
    const pending = await createPayment(service);
    const early = await lunas('payments', 'fail', pending.id, '--note', 'ticket 7');
    expect(early).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has the order as pending') });
    expect((await lunas('payments', 'fail', pending.id)).exitCode).toBe(2);
    await service.providerDb.query('delete from payments where order_id = $1', [pending.reference_id]);
    const { payment } = parse(await lunas('payments', 'fail', pending.id, '--note', 'ticket 7', '--json'));
    expect(payment).toEqual({ id: pending.id, reference_id: pending.reference_id, status: 'failed' });
    expect(await lastActionOn(pending.id)).toMatchObject({ action: 'payment.fail', actor: ME, outcome: 'succeeded' });
  });

  it('settles all due payments of a merchant, which the list shows before and not after', async () => {
    const paid: Awaited<ReturnType<typeof createPaid>>[] = [];
    while (paid.length < 12) paid.push(await createPaid(service));
    const waiting = async () =>
      parse(await lunas('payments', 'list', '--waiting-for-settlement', '--json')).payments.map(
        ({ reference_id }: { reference_id: string }) => reference_id,
      );
    const references = paid.map(({ reference_id }) => reference_id);
    expect((await waiting()).toSorted()).toEqual(references.toSorted());
    expect((await lunas('payments', 'list')).stdout).toMatch(/waits for `settle`/);

    const { merchantId } = service;
    const early = await lunas('payments', 'settle', '--merchant', merchantId, '--until', '2026-01-01T00:00:00Z');
    expect(early).toEqual({ exitCode: 0, stdout: 'No payment waits for its settlement.\n', stderr: '' });
    const until = '2099-01-01T00:00:00Z';
    const { settlements } = parse(
      await lunas('payments', 'settle', '--merchant', merchantId, '--until', until, '--json'),
    );
    expect(settlements).toHaveLength(12);
    for (const payment of references) expect(settlements).toContainEqual({ payment, outcome: 'settled', reason: null });
    expect(await waiting()).toEqual([]);
    for (const { id } of paid) expect(await statusOf(service, id)).toBe('settled');
  });

  it.each([
    [[], 'takes either payments, or --merchant and --until'],
    [['LN1', '--merchant', UNKNOWN_ID], 'takes either payments, or --merchant and --until'],
    [['--merchant', UNKNOWN_ID], 'takes either payments, or --merchant and --until'],
    [['--merchant', UNKNOWN_ID, '--until', 'soon'], '--until must be a timestamp such as 2026'],
    [['LN1', '--note', ''], '--note must not be empty'],
  ])('%j: prints the error', async (args, message) => {
    const { exitCode, stderr } = await lunas('payments', 'settle', ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('lunas payments show', () => {
  it("takes the merchant's order id, as the list does: one payment, or several to choose from", async () => {
    const [first, other] = [
      await createPayment(service, { merchant_reference_id: 'ORDER-1042' }),
      await createPayment(service),
    ];
    const { payment } = parse(await lunas('payments', 'show', 'ORDER-1042', '--json'));
    expect(payment).toMatchObject({ id: first.id, merchant_reference_id: 'ORDER-1042' });

    const second = await createPayment(service, { merchant_reference_id: 'ORDER-1042', amount: 60_000 });
    const references = `${second.reference_id}, ${first.reference_id}`;
    const cancelled = await lunas('payments', 'cancel', 'ORDER-1042', '--note', 'x');
    expect(cancelled).toMatchObject({
      exitCode: 1,
      stderr: `error: ORDER-1042 is the order id of ${references}: name one by its reference_id.\n`,
    });
    const { stdout } = await lunas('payments', 'show', 'ORDER-1042');
    const [heading, , columns, ...rows] = stdout.trimEnd().split('\n');
    expect(heading).toBe('Several payments have the id ORDER-1042. Repeat the command with the REFERENCE of one:');
    expect(columns).toMatch(/^REFERENCE +STATUS +TOTAL +CREATED +MERCHANT$/);
    expect(rows).toEqual([
      expect.stringMatching(new RegExp(`^${second.reference_id} +pending +Rp 60.000 +20\\S+Z +${service.merchantId}$`)),
      expect.stringMatching(new RegExp(`^${first.reference_id} +pending +Rp 50.000 +20\\S+Z +${service.merchantId}$`)),
    ]);
    expect(stdout).not.toContain(other.reference_id);

    const list = async (...filter: string[]) =>
      parse(await lunas('payments', 'list', ...filter, '--json')).payments.map(({ id }: { id: string }) => id);
    const ofOrder = ['--reference', 'ORDER-1042'];
    const ofMerchant = ['--merchant', service.merchantId];
    expect(await list(...ofOrder)).toEqual([second.id, first.id]);
    for (const filter of [ofOrder, ofMerchant, [...ofMerchant, ...ofOrder]]) {
      expect(await list(...filter, '--amount', '60000')).toEqual([second.id]);
      expect(await list(...filter, '--to', '2026-01-31T00:00:00+07:00')).toEqual([]);
    }
    const found = await service.db.query<{ at: Date }>('select created_at as at from payments where id = $1', [
      other.id,
    ]);
    const at = found.rows[0]?.at.toISOString() ?? '';
    expect(await list('--from', at, '--to', at)).toEqual([other.id]);
  });
});

describe('lunas refunds', () => {
  it('lists a rejected refund, retries it, and shows both refunds', async () => {
    const { id, reference_id } = await createRejectedRefund();
    const { refunds } = parse(await lunas('refunds', 'list', '--json'));
    expect(refunds).toEqual([
      expect.objectContaining({ reference_id, payment_status: 'refund_failed', number: 1, status: 'rejected' }),
    ]);
    expect((await lunas('refunds', 'list')).stdout).toContain(reference_id);
    const { payment } = parse(await lunas('refunds', 'retry', reference_id, '--note', 'outage over', '--json'));
    expect(payment).toEqual({ id, reference_id, status: 'refund_processing' });
    await waitForStatus(service, id, 'refunded');
    const shown = await lunas('payments', 'show', id);
    expect(shown.stdout).toMatch(new RegExp(`1 +${reference_id}-R1 +rejected`));
    expect(shown.stdout).toMatch(new RegExp(`2 +${reference_id}-R2 +confirmed`));
    expect(shown.stdout).toMatch(/refund\.retry +outage over +succeeded/);
    expect((await lunas('refunds', 'list')).stdout).toBe('No refund requires an operator.\n');
  });

  it('resolves a refund once, and prints why a second resolution is rejected', async () => {
    const { id, reference_id } = await createRejectedRefund();
    const resolve = ['refunds', 'resolve', reference_id, '--as', 'refunded', '--note', 'transfer 4711'];
    expect(await lunas(...resolve)).toEqual({
      exitCode: 0,
      stdout: `${reference_id} (${id}) is refunded.\n`,
      stderr: '',
    });
    const again = await lunas(...resolve);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(again.stderr).toMatch(/^error: A transaction that is "refunded" cannot be resolved as refunded\.\n$/);
  });

  it.each([
    [['retry', 'LN1'], "'--note <text>' not specified"],
    [['resolve', 'LN1', '--note', 'n'], "'--as <outcome>' not specified"],
    [['resolve', 'LN1', '--as', 'settled', '--note', 'n'], "--as must be refunded or paid, not 'settled'"],
  ])('%j: prints the missing option', async (args, message) => {
    const { exitCode, stderr } = await lunas('refunds', ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('lunas exceptions', () => {
  it('lists open exceptions, resolves one with a note, and lists it with --all', async () => {
    const exception = { kind: 'unknown_order', providerAccountId: null, paymentId: null, amountRupiah: 5 } as const;
    await openException(service.db, { ...exception, referenceId: 'LN1', detail: 'Not in PostgreSQL.' });
    const { exceptions } = parse(await lunas('exceptions', 'list', '--json'));
    const [{ id }] = exceptions;
    expect((await lunas('exceptions', 'list')).stdout).toMatch(/unknown_order +LN1 +Rp 5 +Not in PostgreSQL\./);
    const resolved = await lunas('exceptions', 'resolve', id, '--note', 'sent back');
    expect(resolved).toEqual({ exitCode: 0, stdout: 'unknown_order of LN1 is resolved.\n', stderr: '' });
    expect((await lunas('exceptions', 'list')).stdout).toBe('No exception requires an operator.\n');
    expect((await lunas('exceptions', 'list', '--all')).stdout).toContain(`by ${ME}: sent back`);
    expect(await lunas('exceptions', 'resolve', id, '--note', 'n')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('There is no open exception'),
    });
    expect((await lunas('exceptions', 'resolve', id)).exitCode).toBe(2);
  });
});

describe('lunas operators', () => {
  it('creates a key, prints it once, revokes it, and lists these actions', async () => {
    const { operator } = parse(await lunas('operators', 'create', '--name', 'dewi', '--json'));
    const { secret, ...rest } = operator;
    expect(secret).toMatch(/^op_test_/);
    expect(parse(await lunas('operators', 'list', '--json')).operators).toEqual([rest]);
    const again = await lunas('operators', 'create', '--name', 'dewi');
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('an operator dewi already') });
    expect((await lunas('operators', 'revoke', operator.id)).stdout).toContain('The key of dewi (op_test_…');
    const trail = (await lunas('operators', 'actions')).stdout;
    expect(trail).toMatch(new RegExp(`${ME} +operator\\.create +dewi +- +succeeded`));
    expect(trail).toMatch(new RegExp(`${ME} +operator\\.create +dewi +- +rejected +There is an operator dewi`));
    expect(trail).toMatch(new RegExp(`${ME} +operator\\.revoke +${operator.id}`));
    expect((await lunas('operators', 'create', '--name', 'De Wi')).exitCode).toBe(2);
  });

  it('every command that changes an object writes to the audit log', async () => {
    const { merchant } = parse(await lunas('merchants', 'create', '--name', 'Toko', '--json'));
    const { key } = parse(await lunas('keys', 'create', '--merchant', merchant.id, '--json'));
    const url = 'http://127.0.0.1:9/';
    const { endpoint } = parse(await lunas('webhooks', 'create', '--merchant', merchant.id, '--url', url, '--json'));
    const commands: readonly (readonly [action: string, target: string, ...args: string[]])[] = [
      ['merchant.approve', merchant.id, 'merchants', 'approve', merchant.id],
      ['merchant.suspend', merchant.id, 'merchants', 'suspend', merchant.id],
      ['merchant.set', merchant.id, 'merchants', 'set', merchant.id, '--provider', 'shopeepay'],
      ['merchant.set_fee_payer', merchant.id, 'merchants', 'set', merchant.id, '--fee-payer', 'buyer'],
      ['key.revoke', key.id, 'keys', 'revoke', key.id],
      ['catalog.set', 'shopeepay qris', 'catalog', 'set', '--provider', 'shopeepay', '--channel', 'qris'],
      ['webhook.disable', endpoint.id, 'webhooks', 'disable', endpoint.id],
      ['webhook.enable', endpoint.id, 'webhooks', 'enable', endpoint.id],
      ['webhook.rotate_secret', endpoint.id, 'webhooks', 'rotate-secret', endpoint.id],
      ['webhook.set', endpoint.id, 'webhooks', 'set', endpoint.id, '--all-events'],
      ['webhook.ping', endpoint.id, 'webhooks', 'ping', endpoint.id],
    ];
    for (const [action, target, ...args] of commands) {
      // The ping is sent, but no receiver is there.
      expect(await lunas(...args)).toMatchObject({ exitCode: action === 'webhook.ping' ? 1 : 0 });
      expect(await lastActionOn(target)).toEqual({ actor: ME, via: 'cli', action, note: null, outcome: 'succeeded' });
    }
    // No act: there is no such object.
    expect((await lunas('webhooks', 'redeliver', UNKNOWN_ID)).exitCode).toBe(1);
    expect((await lunas('accounts', 'disable', UNKNOWN_ID)).exitCode).toBe(1);
    expect(await lastActionOn(UNKNOWN_ID)).toBeUndefined();
  });
});

describe('lunas ledger verify', () => {
  it('reports no breaks in a correct ledger, and fails with a description of each break', async () => {
    const verified = await lunas('ledger', 'verify');
    expect(verified).toMatchObject({ exitCode: 0, stderr: '' });
    expect(verified.stdout).toMatch(/^\d+ payments, \d+ payouts and \d+ postings, as of .*: no breaks\.\n/);
    expect(verified.stdout).toMatch(/provider_receivable +Rp [\d.]+ +Rp [\d.]+ +Rp [\d.]+ debit/);

    const { id } = await createPaid(service);
    await service.db.query("update payments set status = 'settled' where id = $1", [id]);
    const broken = await lunas('ledger', 'verify');
    expect(broken).toMatchObject({ exitCode: 1, stderr: 'error: The ledger has a break.\n' });
    expect(broken.stdout).toMatch(new RegExp(`${id} +payment_disagrees +It is "settled" at version 3, but`));
    const { exitCode, stdout } = await lunas('ledger', 'verify', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).ledger).toMatchObject({
      break_count: 1,
      breaks: [{ kind: 'payment_disagrees', payment_id: id }],
      balances: expect.arrayContaining([expect.objectContaining({ account: 'fee_revenue' })]),
    });
    await service.db.query("update payments set status = 'paid' where id = $1", [id]);
  });
});

describe('lunas attention', () => {
  it('lists what waits in PostgreSQL and in Temporal, each with its next command', async () => {
    const [rejected, unknown] = [await createRejectedRefund(), await createPayment(service)];
    const { merchant } = parse(await lunas('merchants', 'create', '--name', 'Toko Baru', '--json'));
    await service.providerDb.query('delete from payments where order_id = $1', [unknown.reference_id]);
    await service.workflows.signalProviderUpdate(unknown.id);
    const { cases } = await eventually(
      async () => JSON.parse((await lunas('attention', '--json')).stdout),
      (document) => JSON.stringify(document).includes(unknown.reference_id),
    );
    const nextOf = (subject: string) =>
      cases.filter((found: { subject: string }) => found.subject === subject).map(({ next }: { next: string }) => next);
    expect(nextOf(rejected.reference_id)).toEqual([`lunas refunds retry ${rejected.reference_id} --note "…"`]);
    expect(nextOf(unknown.reference_id)).toEqual([`lunas payments show ${unknown.reference_id}`]);
    expect(nextOf(merchant.id)).toEqual([`lunas merchants approve ${merchant.id} --note "…"`]);

    const isOfWorker = ({ kind }: { kind: string }) => kind === 'worker';
    expect(cases.filter(isOfWorker)).toEqual([]);

    const away = await runLunas(['attention'], { ...environment, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(away).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^error: \d+ rows need a person\.\n$/) });
    expect(away.stdout).toMatch(/^SINCE +COUNT +KIND +NEXT +DETAIL +MERCHANT$/m);
    expect(away.stdout).toMatch(/ temporal +lunas temporal check /);
    expect(away.stdout).toContain(rejected.reference_id);
  });

  it('names the task queues that no worker polls', async () => {
    const { namespace } = await newNamespace();
    const alone = { ...environment, TEMPORAL_NAMESPACE: namespace };
    expect(await runLunas(['temporal', 'setup'], alone)).toMatchObject({ exitCode: 0 });
    const { cases } = JSON.parse((await runLunas(['attention', '--json'], alone)).stdout);
    const worker = { kind: 'worker', merchant_id: null, next: 'lunas doctor' };
    expect(cases).toEqual(
      expect.arrayContaining(
        ['lunas-payments', 'lunas-webhooks'].map((subject) => expect.objectContaining({ ...worker, subject })),
      ),
    );
  });

  it('ends while Temporal hangs, as do other commands', async () => {
    const proxy = await startTcpProxy(service.temporal.address);
    proxy.hang();
    const hanging = { ...environment, TEMPORAL_ADDRESS: proxy.address };
    const { reference_id: referenceId } = await createPayment(service);
    const [attention, versions, cancel] = await Promise.all([
      runBuiltLunas(['attention', '--json'], hanging),
      runBuiltLunas(['temporal', 'versions'], hanging),
      runBuiltLunas(['payments', 'cancel', referenceId, '--note', 'x'], hanging),
    ]);
    await proxy.close();
    expect(JSON.parse(attention.stdout).cases).toContainEqual(expect.objectContaining({ kind: 'temporal' }));
    expect(versions).toMatchObject({
      exitCode: 1,
      stderr: `error: Temporal at ${proxy.address} is not available: no response in 3 s.\n`,
    });
    expect(cancel).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: Temporal does not respond .*It is not known whether .*: repeat it\.\n$/),
    });
  });
});
