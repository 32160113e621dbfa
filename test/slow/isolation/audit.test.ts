import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/program';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool } from '../../../src/db/connection/pool';
import { openException } from '../../../src/db/operations/open-exception';
import { OPERATOR_ENDPOINTS } from '../../../src/servers/api-routes';
import { listActions, type AuditedAction } from '../../../src/services/audit/list-actions';
import { insertOperator, type NewOperator } from '../../../src/services/identity/operators';
import { listExceptions } from '../../../src/services/payments/exceptions';
import { addAccount } from '../../../src/services/provider-accounts/provider-accounts';
import { seedPayouts } from '../../../src/services/sandbox/seed-payouts';
import { runLunas } from '../../cli/run-lunas';
import { prepareBankAccount } from '../../support/bank-accounts';
import { createProductionDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { identityFile } from '../../support/identity';
import { companyFile, issueNow } from '../../support/invoices';
import { issueKey } from '../../support/keys';
import { operatorBody } from '../../support/operator-body';
import { addLines, applyPayout, preparePayouts } from '../../support/payouts';
import { createMember, createShop } from '../../support/people';
import { productionOperator } from '../../support/production';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const UNKNOWN_ID = '0193e5c0-0000-7000-8000-000000000000';

/** Commands that change nothing that an operator decides. */
const READ_ONLY = [
  // Processes, and the installation itself: no operator action.
  'up',
  'services',
  'api',
  'worker',
  'dashboard',
  'sandbox',
  'sandbox pay',
  'codec',
  'migrate',
  'listen',
  'temporal check',
  'temporal setup',
  'temporal versions',
  'merchants list',
  'keys list',
  'users list',
  'statements list',
  'statements show',
  'webhooks list',
  'webhooks deliveries',
  'catalog list',
  'fees list',
  'fees quote',
  'company show',
  'invoices list',
  // With a file it is in the audit log.
  'invoices show',
  'accounts list',
  'bank-accounts list',
  'operators list',
  'operators actions',
  'logs',
  'requests show',
  'attention',
  'runs list',
  'payments show',
  'recovery status',
  'payments list',
  'payouts list',
  'payouts show',
  'payouts policies list',
  'payouts holidays list',
  'refunds list',
  'exceptions list',
  // It is in the audit log nevertheless.
  'customers show',
  'doctor',
  'ledger verify',
  'archive show',
  'audit verify',
  'approvals list',
  'approvals rules',
  'replay',
];

let service: TestService;
let environment: NodeJS.ProcessEnv;
let secret: string;
let routePayouts: Awaited<ReturnType<typeof newPayouts>>;
let routeDeliveryId: string;
let exceptionId: string;
let payment: { readonly id: string; readonly reference_id: string };
let writes: Readonly<Record<string, readonly string[]>>;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  ({ secret } = await insertOperator(service.db, { name: 'dewi', environment: 'sandbox' }));
  environment = {
    PATH: process.env.PATH,
    ...operatorEnvironment(service),
    LUNAS_OPERATOR_KEY: secret,
    SERVER_KEY: 'SB-Mid-server-1',
    ACCOUNT_NUMBER: '1234567890',
  };
  payment = (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
  const { payment: invoiced } = (await service.call('POST', '/payments', { amount: 50_000 })).body;
  await service.pay(invoiced.reference_id);
  await eventually(
    () => issueNow(service.db, service.masterKey),
    ([invoice]) => invoice !== undefined,
  );
  writes = await writesOf(service.merchantId);
});
afterAll(() => service.close());

async function writesOf(merchantId: string): Promise<typeof writes> {
  const bankAccountId = await prepareBankAccount(service, merchantId, 'pending_approval');
  const { id: lostKeyId } = await issueKey(service.db, { merchantId, environment: 'sandbox' });
  const [endpointId, deliveryId] = await deadDelivery(merchantId);
  [, routeDeliveryId] = await deadDelivery(merchantId);
  await openException(service.db, { kind: 'unknown_order', referenceId: 'LN0', detail: 'Unknown order.' });
  exceptionId = (await listExceptions(service.db, { onlyOpen: true, limit: 1 }))[0]?.id ?? '';
  const linkedUserId = await createMember(service.db, 'linked@toko.example');
  await service.db.query("update users set link_shown_to = 'user:another' where id = $1", [linkedUserId]);
  const { id: suspendedId } = await createShop(service.db);
  const { id: goneId } = await insertOperator(service.db, { name: 'gone', environment: 'sandbox' });
  return {
    'merchants create': ['--name', 'Toko Maju', '--approve'],
    'merchants approve': [merchantId],
    'merchants identify': [suspendedId, '--file', await identityFile()],
    'merchants identity': [suspendedId, '--reveal'],
    'merchants suspend': [suspendedId],
    'merchants hold': [merchantId],
    'merchants release': [merchantId],
    'merchants set': [merchantId, '--fee-payer', 'merchant'],
    'merchants remove-logo': [merchantId],
    'keys create': ['--merchant', merchantId, '--allow-ip', '203.0.113.7'],
    'keys revoke': [lostKeyId],
    'keys reseal': [],
    'users invite': ['--merchant', merchantId, '--email', 'sri@toko.example', '--role', 'owner'],
    'users link': [],
    'users reset': [linkedUserId],
    'users confirm': [linkedUserId],
    'users disable': [linkedUserId],
    'webhooks create': ['--merchant', merchantId, '--url', 'http://127.0.0.1:9/hooks'],
    'webhooks rotate-secret': [endpointId],
    'webhooks set': [endpointId, '--all-events'],
    'webhooks disable': [endpointId],
    'webhooks enable': [endpointId],
    'webhooks ping': [endpointId],
    'webhooks redeliver': [deliveryId],
    'webhooks delete': [endpointId],
    ...(await writesOfFees(merchantId)),
    'accounts add': ['--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'SERVER_KEY', '--weight', '7'],
    'accounts add-payouts': '--adapter snap-midtrans --base-url http://127.0.0.1:9 --credentials-env SERVER_KEY'.split(
      ' ',
    ),
    ...(await writesOfAccount()),
    ...(await writesOfPayouts()),
    ...writesOfBankAccount(merchantId, bankAccountId),
    'temporal use-version': ['2026-11-23.1'],
    'operators create': ['--name', 'budi', '--scopes', 'read', '--expires', '90d'],
    'operators replace-key': ['--json'],
    'operators revoke': [goneId],
    'payments settle': [payment.id],
    'payments fail': [payment.id],
    'payments cancel': [payment.id],
    'payments refund': [payment.id],
    'customers erase': [payment.id],
    'refunds retry': [payment.id],
    'refunds resolve': [payment.id, '--as', 'paid'],
    'exceptions resolve': [exceptionId],
    'approvals approve': ['4711'],
    'approvals reject': ['4711'],
    'approvals set-limit': ['5000000'],
    'approvals set-rule': ['payment.settle', '--item', '5000000'],
    trigger: ['expire', payment.id],
    reconcile: [],
    recover: [],
    'recovery begin': [],
    'recovery end': ['--lost-nothing'],
    'archive write': ['--before', '2026-01-31'],
    'archive remove': ['--copy', 'lunas-payments-2026-01-30-1.jsonl.gz'],
  };
}

async function writesOfFees(merchantId: string): Promise<typeof writes> {
  const [invoice] = await issueNow(service.db, service.masterKey);
  return {
    'catalog set': ['--provider', 'gopay', '--channel', 'qris', '--fee-bps', '70'],
    'fees set': ['--proposal', '--valid-from', '2026-01-01'],
    'fees agree': [merchantId, '--bps', '50', '--valid-from', '2026-01-01'],
    'company set': ['--file', await companyFile()],
    'invoices issue': ['--now'],
    'invoices credit': [invoice?.number ?? '', '--fee', '1'],
  };
}

async function writesOfAccount(): Promise<typeof writes> {
  const { id } = await addAccount(service.db, createSealer(service.masterKey), {
    provider: 'shopeepay',
    adapter: 'midtrans',
    serverKey: 'SB-Mid-server-0',
    weight: 1,
    environment: 'sandbox',
  });
  return {
    'accounts disable': [id],
    'accounts enable': [id],
    'accounts set-key': [id, '--server-key-env', 'SERVER_KEY'],
    'accounts set-rate': [id, '--per-second', '20'],
  };
}

/** A new endpoint that has only a dead delivery. */
async function deadDelivery(merchantId: string): Promise<readonly [endpointId: string, deliveryId: string]> {
  const endpoint = { merchantId, url: 'http://127.0.0.1:9/dead', events: ['payout.failed'] } as const;
  const { id } = await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
  const { rows } = await service.db.query<{ id: string }>(
    `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
       dead_reason, finished_at)
     select gen_random_uuid(), payment_id, payment_version, $1, $2, event, 'dead', 'attempts_exhausted', now()
     from webhook_events where payment_id = $3 limit 1 returning id`,
    [id, merchantId, payment.id],
  );
  return [id, rows[0]?.id ?? ''];
}

/** A later one meets the account as an earlier one left it: a rejected command is recorded too. */
function writesOfBankAccount(merchantId: string, id: string): typeof writes {
  return {
    'bank-accounts show': [id],
    'bank-accounts add': ['--merchant', merchantId, '--bank', '014', '--number-env', 'ACCOUNT_NUMBER'],
    'bank-accounts approve': [id],
    'bank-accounts reactivate': [id],
    'bank-accounts verify': [id],
    'bank-accounts reject': [id],
    'bank-accounts suspend': [id],
    'bank-accounts disable': [id],
  };
}

async function newPayout(
  steps: Parameters<typeof applyPayout>[1],
  requester: 'cli:sari' | 'schedule',
): Promise<string> {
  const payouts = await preparePayouts(service, (await createShop(service.db)).id);
  await addLines(payouts, [252_500]);
  return (await applyPayout(payouts, steps, { by: { name: requester } })).payoutId;
}

/** For each action a payout that allows it: the log has no row of one that is rejected for the state of its object. */
async function newPayouts() {
  return {
    approve: await newPayout([], 'cli:sari'),
    cancel: await newPayout([], 'cli:sari'),
    resend: await newPayout(['approve', 'submit'], 'schedule'),
    resolve: await newPayout(['approve', 'submit'], 'schedule'),
  };
}

async function writesOfPayouts(): Promise<typeof writes> {
  const { db, masterKey } = service;
  await seedPayouts({ db, sealer: createSealer(masterKey), sandboxUrl: service.sandboxUrl, apiUrl: service.apiUrl });
  const { id: merchant } = await createShop(db);
  await addLines(await preparePayouts(service, merchant), [252_500]);
  const payouts = await newPayouts();
  routePayouts = await newPayouts();
  return {
    'payouts create': ['--merchant', merchant, '--key', 'audit'],
    'payouts cancel': [payouts.cancel],
    'payouts approve': [payouts.approve],
    'payouts resend': [payouts.resend],
    'payouts resolve': [payouts.resolve, '--as', 'failed', '--evidence', 'line 12'],
    'runs repeat': ['closing'],
    'payouts stop': [],
    'payouts start': [],
    'payouts set-limit': ['90000000'],
    'payouts policies set': ['--rail', 'skn', '--fee', '3000'],
    'payouts holidays add': ['2999-12-31'],
  };
}

/** The commands that do something, by their full names. */
function namesOfCommands(command: Command, parents: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const names = [...parents, child.name()];
    const nested = namesOfCommands(child, names);
    return nested.length === 0 || child.name() === 'sandbox' ? [names.join(' '), ...nested] : nested;
  });
}

async function runCommand(name: string, args: readonly string[]): Promise<void> {
  const all = [...name.split(' '), ...args, '--note', 'ticket 7'];
  if (name === 'operators replace-key') useKey(JSON.parse((await runLunas(all, environment)).stdout).operator.secret);
  else await runLunas(all, environment);
}

function useKey(key: string): void {
  secret = key;
  environment = { ...environment, LUNAS_OPERATOR_KEY: key };
}

/** The actions that the work adds to the audit log. */
async function actionsOf(work: () => Promise<unknown>): Promise<AuditedAction[]> {
  const [newest] = await listActions(service.db, { limit: 1 });
  await work();
  return (await listActions(service.db, { limit: 20 })).filter(({ id }) => id > (newest?.id ?? 0));
}

it('knows of each command whether it writes', async () => {
  const program = await createProgram({ stdout: process.stdout, stderr: process.stderr, environment: {} });
  expect(namesOfCommands(program).toSorted()).toEqual([...READ_ONLY, ...Object.keys(writes)].toSorted());
});

it('records each command that writes, with the operator of its key and its note', async () => {
  for (const [name, args] of Object.entries(writes)) {
    const actions = await actionsOf(() => runCommand(name, args));
    expect({ name, actions }).toEqual({
      name,
      actions: [expect.objectContaining({ actor: 'operator:dewi', via: 'cli', note: 'ticket 7' })],
    });
  }
});

it('records who saw personal data', async () => {
  const actions = await actionsOf(() => runCommand('customers show', [payment.id]));
  expect(actions).toEqual([
    expect.objectContaining({ actor: 'operator:dewi', action: 'customer.show', target: payment.id, note: 'ticket 7' }),
  ]);
});

it('records each operator route that writes', async () => {
  const routes = OPERATOR_ENDPOINTS.filter(({ method }) => method !== 'get');
  expect(routes).not.toEqual([]);
  for (const { path: route, method } of routes) {
    const merchants = service.merchantId;
    const payoutId = Object.entries(routePayouts).find(([action]) => route.endsWith(`/${action}`))?.[1] ?? UNKNOWN_ID;
    const ids = {
      payments: payment.id,
      payouts: payoutId,
      deliveries: routeDeliveryId,
      exceptions: exceptionId,
      merchants,
    };
    const id = Object.entries(ids).find(([name]) => route.includes(`/${name}/`))?.[1] ?? UNKNOWN_ID;
    const body = operatorBody(route, 'ticket 8');
    const headers = { authorization: `Bearer ${secret}` };
    const actions = await actionsOf(() =>
      service.callOperator(method.toUpperCase(), route.replace(':id', id), body, headers),
    );
    expect({ route, actions }).toEqual({
      route,
      actions: [expect.objectContaining({ actor: 'operator:dewi', via: 'api', note: 'ticket 8' })],
    });
  }
});

it.each([
  ['merchants create', 'merchant', /Toko Maju/],
  ['keys create', 'key', /203\.0\.113\.7/],
  ['webhooks create', 'endpoint', /127\.0\.0\.1:9\/hooks/],
  ['accounts add', 'account', /"weight":7/],
])('%s is recorded with the new id and what was created', async (name, field, detail) => {
  let created: { readonly stdout: string } = { stdout: '' };
  const [action] = await actionsOf(async () => {
    created = await runLunas([...name.split(' '), ...(writes[name] ?? []), '--json'], environment);
  });
  expect(action).toMatchObject({
    target: JSON.parse(created.stdout)[field].id,
    detail: expect.stringMatching(detail),
    outcome: 'succeeded',
  });
  expect(action?.detail).not.toContain('SB-Mid-server-1');
});

describe('a production database', () => {
  const CREATE = ['merchants', 'create', '--name', 'Toko'];
  const WITH_NOTE = [...CREATE, '--note', 'contract 12'];
  const rejectedFor = (reason: RegExp) => ({ exitCode: 1, stdout: '', stderr: expect.stringMatching(reason) });

  let database: TestDatabase;
  beforeEach(async () => {
    database = await createProductionDatabase();
  });
  afterEach(() => database.drop());

  /** Without LUNAS_ENVIRONMENT: the environment of the database decides. */
  const lunas = (args: readonly string[], key?: string) =>
    runLunas(args, {
      DATABASE_URL: database.urlOf('lunas_local_operator'),
      ...(key !== undefined && { LUNAS_OPERATOR_KEY: key }),
    });

  async function createKey(access: Partial<NewOperator>): Promise<string> {
    const db = createPool(database.url, { max: 1 });
    try {
      return (await insertOperator(db, { name: 'dewi', environment: 'production', ...access })).secret;
    } finally {
      await db.end();
    }
  }

  it('needs a note and an operator key for a command that writes', async () => {
    const key = await createKey({});
    expect(await lunas(CREATE, key)).toEqual(rejectedFor(/^error: [^\n]*--note[^\n]*\n$/));
    for (const invalid of [undefined, '', 'op_live_unknown', secret]) {
      expect(await lunas(WITH_NOTE, invalid)).toEqual(rejectedFor(/^error: [^\n]*LUNAS_OPERATOR_KEY[^\n]*\n$/));
    }
    const list = await lunas(['operators', 'actions', '--json'], key);
    expect(JSON.parse(list.stdout)).toEqual({ actions: [] });
    expect(await lunas(WITH_NOTE, key)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each<[string, Partial<NewOperator>, number]>([
    ['rejects an expired key', { expiresAt: new Date(0) }, 1],
    ['rejects a key with scopes', { scopes: ['read', 'settle'] }, 1],
    ['accepts a key with an allowlist: a command has no address', { allowedNetworks: ['203.0.113.0/24'] }, 0],
  ])('%s', async (_, access, exitCode) => {
    expect(await lunas(WITH_NOTE, await createKey(access))).toMatchObject({ exitCode });
  });

  it('creates the first operator without a key, and no further one', async () => {
    await createKey({ name: 'expired', expiresAt: new Date(0) });
    const login = ['--login', 'lunas_local_operator'];
    const create = (name: string) => lunas(['operators', 'create', '--name', name, ...login, '--note', 'installation']);
    expect(await create('budi')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await create('mallory')).toEqual(rejectedFor(/LUNAS_OPERATOR_KEY/));
  });

  it('shows the actions of its operators, newest first', async () => {
    const { LUNAS_OPERATOR_KEY } = await productionOperator(database.url);
    for (const note of ['first', 'second']) await lunas([...CREATE, '--note', note], LUNAS_OPERATOR_KEY);
    const { actions } = JSON.parse((await lunas(['operators', 'actions', '--json'])).stdout);
    expect(actions).toMatchObject([
      { actor: expect.stringMatching(/^operator:/), action: 'merchant.create', note: 'second' },
      { actor: expect.stringMatching(/^operator:/), action: 'merchant.create', note: 'first' },
    ]);
  });
});
