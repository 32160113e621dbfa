import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { createSealer } from '../../../src/crypto/sealing';
import { freePort } from '../../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { redeliverNamed } from '../../../src/services/webhooks/webhook-redelivery';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

/** The shops of examples/ with the real service: bought, paid, delivered twice, and shipped once. */

const START_TIMEOUT_MS = 90_000;
const temporary = mkdtempSync(path.join(os.tmpdir(), 'lunas-shops-'));

/** The command that runs the shop, whose files are in the directory. */
const SHOPS: Readonly<Record<string, (directory: string, port: number) => readonly [string, ...string[]]>> = {
  'shop-express': (directory) => {
    const modules = path.join(directory, 'node_modules');
    mkdirSync(path.join(modules, '@lunas'), { recursive: true });
    symlinkSync(path.join(PACKAGE_ROOT, 'packages', 'node'), path.join(modules, '@lunas', 'node'));
    symlinkSync(path.join(PACKAGE_ROOT, 'node_modules', 'express'), path.join(modules, 'express'));
    return ['node', 'shop.mjs'];
  },
  'shop-python': () => ['python3', 'shop.py'],
  'shop-go': (directory) => {
    execFileSync('go', ['build', '-o', 'shop', '.'], { cwd: directory, env: { ...process.env, GOTOOLCHAIN: 'local' } });
    return ['./shop'];
  },
  'shop-php': (_directory, port) => ['php', '-S', `127.0.0.1:${port}`, 'shop.php'],
};

const orderSchema = z.object({ status: z.string(), shipped: z.number() });

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 1 });
});
afterAll(async () => {
  await service.close();
  rmSync(temporary, { recursive: true });
});

describe.each(Object.entries(SHOPS))('%s', (name, commandOf) => {
  let shop: ChildProcess;
  let url: string;
  let printed = '';

  beforeAll(async () => {
    const directory = path.join(temporary, name);
    cpSync(path.join(PACKAGE_ROOT, 'examples', name), directory, { recursive: true });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const { secret } = await registerEndpoint(service.db, createSealer(service.masterKey), {
      merchantId: service.merchantId,
      url: `${url}/webhooks`,
      events: [],
    });
    const [command, ...args] = commandOf(directory, port);
    shop = spawn(command, args, {
      cwd: directory,
      env: {
        ...process.env,
        PORT: String(port),
        LUNAS_URL: service.apiUrl,
        LUNAS_KEY: service.secretKey,
        WEBHOOK_SECRET: secret,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [shop.stdout, shop.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)));
    await eventually(
      () => fetch(url).then(({ status }) => status, String),
      (status) => status === 200,
      START_TIMEOUT_MS,
    );
  }, 2 * START_TIMEOUT_MS);

  afterAll(async () => {
    if (shop.exitCode === null && shop.kill('SIGKILL')) await once(shop, 'exit');
    await service.db.query("update webhook_endpoints set status = 'disabled', disabled_reason = 'operator'");
  });

  async function readOrder(orderId: string) {
    return orderSchema.parse(await (await fetch(`${url}/orders/${orderId}`)).json());
  }

  it('sends the customer to the checkout page, and ships once although webhooks repeat', async () => {
    expect(await (await fetch(url)).text()).toContain('<form method="post" action="/orders">');
    const bought = await fetch(`${url}/orders`, { method: 'POST', redirect: 'manual' });
    expect([bought.status, printed]).toEqual([303, expect.not.stringMatching(/Traceback|Warning|Error/)]);
    const page = await fetch(bought.headers.get('location') ?? '');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('50.000')]);

    const [{ id, reference_id, merchant_reference_id: orderId }] = (await service.call('GET', '/transactions?limit=1'))
      .body.transactions;
    expect(await readOrder(orderId)).toMatchObject({ shipped: 0 });
    await service.pay(reference_id);
    await eventually(
      () => readOrder(orderId),
      ({ status }) => status === 'settled',
    );
    expect(await readOrder(orderId)).toEqual(expect.objectContaining({ status: 'settled', shipped: 1 }));

    const { rows } = await service.db.query<{ id: string }>(
      `select delivery.id from webhook_deliveries delivery join webhook_endpoints endpoint on endpoint.id = endpoint_id
       where payment_id = $1 and endpoint.status = 'enabled'`,
      [id],
    );
    await eventually(
      () => service.db.query("select from webhook_deliveries where status = 'pending'"),
      ({ rowCount }) => rowCount === 0,
    );
    const before = await attempts(id);
    await redeliverNamed(
      service.db,
      rows.map((row) => row.id),
    );
    await eventually(
      () => attempts(id),
      (now) => now === before + rows.length,
    );
    expect(await readOrder(orderId)).toEqual(expect.objectContaining({ status: 'settled', shipped: 1 }));
  });

  it('rejects a webhook that Lunas did not sign', async () => {
    const headers = { 'content-type': 'application/json', 'x-service-signature': `t=1,v1=${'0'.repeat(64)}` };
    const body = JSON.stringify({ event: 'payment.paid', status: 'paid' });
    expect((await fetch(`${url}/webhooks`, { method: 'POST', headers, body })).status).toBe(401);
  });
});

/** Successful attempts of the payment's deliveries. */
async function attempts(paymentId: string): Promise<number> {
  const { rows } = await service.db.query<{ attempts: number }>(
    `select count(*) as attempts from webhook_attempts attempt
     join webhook_deliveries delivery on delivery.id = attempt.delivery_id
     where delivery.payment_id = $1 and attempt.status_code = 200`,
    [paymentId],
  );
  return rows[0]?.attempts ?? 0;
}
