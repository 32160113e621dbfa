import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createSealer } from '../../../src/crypto/sealing';
import { freePort } from '../../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

/** The plugin for WooCommerce on the stub: its scenarios, and the real Lunas with its webhooks. */

const TESTS = path.join(PACKAGE_ROOT, 'packages', 'woocommerce', 'test');

it('each scenario passes', () => {
  const { error, stdout } = spawnSync('php', [path.join(TESTS, 'run.php')], { encoding: 'utf8' });
  expect([error, stdout.split('\n').filter((line) => line.startsWith('FAILED'))]).toEqual([undefined, []]);
  expect(stdout).toMatch(/^[1-9]\d* passed, 0 failed$/m);
});

it('the code follows the standards of WordPress', () => {
  const directory = path.dirname(TESTS);
  const { error, stdout } = spawnSync('phpcs', ['--report=emacs', '-s'], { cwd: directory, encoding: 'utf8' });
  expect([error, stdout]).toEqual([undefined, '']);
});

describe('with the real Lunas', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-woocommerce-'));
  let service: TestService;
  let server: ChildProcess;

  const environment = () => ({ ...process.env, LUNAS_QRIS_TEST_DIRECTORY: directory });

  /** The result of a function of the plugin's test harness. The API runs in this process, which must not block. */
  async function shop(name: string, ...args: readonly (string | number)[]) {
    const command = [path.join(TESTS, 'run.php'), '--call', name, ...args.map(String)];
    const { stdout } = await promisify(execFile)('php', command, { env: environment() });
    return JSON.parse(stdout);
  }

  const referenceOf = async (orderId: number): Promise<string> =>
    (await shop('test_attempts', orderId)).at(-1).reference_id;
  const becomes = (orderId: number, status: string) =>
    eventually(
      () => shop('test_status', orderId),
      (now) => now === status,
    );

  beforeAll(async () => {
    service = await startTestService(await newNamespace(), { refundHoldSeconds: 1 });
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 3_600 });
    const port = await freePort();
    const router = path.join(TESTS, 'webhook-server.php');
    server = spawn('php', ['-S', `127.0.0.1:${port}`, router], { env: environment(), stdio: 'ignore' });
    const { secret } = await registerEndpoint(service.db, createSealer(service.masterKey), {
      merchantId: service.merchantId,
      url: `http://127.0.0.1:${port}/wp-json/lunas-qris/v1/webhook`,
      events: [],
    });
    await shop('test_reset');
    const settings = { api_url: service.apiUrl, secret_key: service.secretKey, webhook_secret: secret, enabled: 'yes' };
    for (const [name, value] of Object.entries(settings)) await shop('test_setting', name, value);
  });

  afterAll(async () => {
    if (server.exitCode === null && server.kill('SIGKILL')) await once(server, 'exit');
    await service.close();
    rmSync(directory, { recursive: true });
  });

  it('an order is paid, and refunded when Lunas confirms it', async () => {
    const orderId = await shop('test_order', 50_000);
    const page = await fetch(await shop('press', orderId));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('50.000')]);
    await service.pay(await referenceOf(orderId));
    await becomes(orderId, 'processing');
    expect(await shop('refund_code', orderId)).toBe('lunas_qris_requested');
    expect(await shop('test_status', orderId)).toBe('processing');
    await becomes(orderId, 'refunded');
    expect(await shop('test_refunds', orderId)).toEqual([50_000]);
  });

  it('hold-stock cancels an order after Lunas has cancelled its payment', async () => {
    const orderId = await shop('test_order', 50_000);
    await shop('press', orderId);
    await shop('hold_stock', orderId);
    expect(await shop('test_status', orderId)).toBe('cancelled');
    const { body } = await service.call('GET', `/payments/${await referenceOf(orderId)}`);
    expect(body.payment.status).toBe('cancelled');
  });

  it('a create whose response is lost is found by the order, and repeated by the next press', async () => {
    const orderId = await shop('test_order', 50_000);
    const url = await shop('press', orderId);
    const reference = await referenceOf(orderId);
    await shop('lose_response', orderId);
    expect(await shop('press', orderId)).toBe(url);
    await shop('lose_response', orderId);
    await service.pay(reference);
    await becomes(orderId, 'processing');
    expect(await referenceOf(orderId)).toBe(reference);
  });
});
