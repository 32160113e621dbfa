import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { GO_LIVE_RULES } from '../../../src/cli/rules/go-live-rules';
import { createSealer } from '../../../src/crypto/sealing';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { changeHold, changeMerchant } from '../../../src/services/merchants/merchants';
import { runLunas } from '../../cli/run-lunas';
import { eventually } from '../../support/eventually';
import { startReceiver, type Receiver } from '../../support/receiver';
import { createSecondMerchant, type SecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const documentSchema = z.object({
  rules: z.array(z.object({ name: z.string(), state: z.string(), violation: z.string().nullable() })),
});

let service: TestService;
let receiver: Receiver;
let merchant: SecondMerchant;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  [service, receiver] = await Promise.all([
    newNamespace().then((temporal) => startTestService(temporal, { refundHoldSeconds: 0 })),
    startReceiver(),
  ]);
  merchant = await createSecondMerchant(service.db);
  const { rows } = await service.db.query<{ name: string }>('select current_database() as name');
  const databaseUrl = new URL(process.env.LUNAS_TEST_DATABASE_SERVER_URL ?? '');
  databaseUrl.pathname = rows[0]?.name ?? '';
  environment = { DATABASE_URL: databaseUrl.href, LUNAS_MASTER_KEY: service.masterKey };
});
afterAll(() => Promise.all([service.close(), receiver.close()]));

/** The broken rules of the checklist, with their violations. */
async function brokenRules(): Promise<Record<string, string>> {
  const { exitCode, stdout } = await runLunas(['doctor', '--merchant', merchant.id, '--json'], environment);
  const { rules } = documentSchema.parse(JSON.parse(stdout));
  const broken = rules.filter(({ state }) => state === 'broken');
  expect(exitCode).toBe(broken.length > 0 ? 1 : 0);
  return Object.fromEntries(broken.map(({ name, violation }) => [name, violation ?? '']));
}

async function create(headers: Record<string, string>) {
  const authorization = `Bearer ${merchant.secretKey}`;
  return (await service.call('POST', '/payments', { amount: 50_000 }, { authorization, ...headers })).body.payment;
}

async function until(status: string, { id }: { id: string }): Promise<void> {
  await eventually(
    async () => (await service.db.query('select status from payments where id = $1', [id])).rows[0]?.status,
    (now) => now === status,
  );
}

function register(events: readonly 'payment.paid'[]) {
  const terms = { merchantId: merchant.id, url: receiver.url, events } as const;
  return registerEndpoint(service.db, createSealer(service.masterKey), terms);
}

it('a merchant goes through the checklist: each step repairs its rules', async () => {
  expect(Object.keys(await brokenRules())).toEqual(['webhook_endpoint', 'test_payment', 'test_refund']);

  await register(['payment.paid']);
  expect(await brokenRules()).toMatchObject({
    webhook_endpoint: 'No endpoint receives payment.settled.',
    webhook_delivered: 'No webhook of the merchant was ever delivered.',
  });

  await register([]);
  const payment = await create({ 'idempotency-key': 'order-1' });
  await service.pay(payment.reference_id);
  await until('paid', payment);
  await eventually(brokenRules, (broken) => !('webhook_delivered' in broken));
  expect(Object.keys(await brokenRules())).toEqual(['test_refund']);

  const authorization = `Bearer ${merchant.secretKey}`;
  await service.call('POST', `/payments/${payment.id}/refund`, undefined, { authorization });
  await until('refunded', payment);
  expect(await brokenRules()).toEqual({});
  const { stdout } = await runLunas(['doctor', '--merchant', merchant.id], environment);
  expect(stdout).toMatch(/^webhook_endpoint +ok/m);
  expect(stdout).toMatch(/^key_networks +not applicable/m);
});

it('warns of names that the newest requests had in vain', async () => {
  const authorization = `Bearer ${merchant.secretKey}`;
  await service.call('POST', '/payments?page=2', { amount: 0, expiry_minutes: 300 }, { authorization });
  const finding = await eventually(
    async () => {
      const { stdout } = await runLunas(['doctor', '--merchant', merchant.id, '--json'], environment);
      return documentSchema.parse(JSON.parse(stdout)).rules.find(({ name }) => name === 'ignored_input');
    },
    (rule) => rule?.state !== 'ok',
  );
  const names = 'expiry_minutes, page';
  expect(finding).toMatchObject({ state: 'warning', violation: expect.stringContaining(`: ${names}.`) });
});

it('names what breaks later', async () => {
  await create({});
  expect(await brokenRules()).toEqual({
    idempotency_keys: '1 of the newest 2 payments were created without an idempotency key.',
  });

  receiver.respond = (response) => response.writeHead(500).end();
  await create({ 'idempotency-key': 'order-2' });
  await eventually(brokenRules, (broken) => 'webhook_delivered' in broken);
  expect((await brokenRules()).webhook_delivered).toContain(receiver.url);

  await changeHold(service.db, merchant.id, true);
  expect((await brokenRules()).merchant).toMatch(/^The merchant is on hold since /);
  await changeMerchant(service.db, merchant.id, { status: 'suspended' });
  expect((await brokenRules()).merchant).toBe('The merchant is suspended.');

  await service.db.query('update api_keys set revoked_at = now() where merchant_id = $1', [merchant.id]);
  expect((await brokenRules()).secret_key).toBe('The merchant has no valid secret key.');
  await service.db.query("update provider_accounts set status = 'disabled'");
  expect((await brokenRules()).provider).toBe(
    "None of the merchant's providers (gopay, shopeepay) has an enabled account and a policy.",
  );
});

it('docs/integration.md has each rule, in this order', () => {
  const page = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'integration.md'), 'utf8');
  const documented = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
  expect(documented).toEqual(GO_LIVE_RULES.map(({ name }) => name));
});

it('an unknown merchant, and a malformed id', async () => {
  const unknown = await runLunas(['doctor', '--merchant', '01935b6c-7c00-7000-8000-0000000000ff'], environment);
  expect([unknown.exitCode, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: There is no merchant 01935b6c/),
  ]);
  const malformed = await runLunas(['doctor', '--merchant', 'x'], environment);
  expect([malformed.exitCode, malformed.stderr]).toEqual([2, expect.stringContaining('must be a UUID')]);
});
