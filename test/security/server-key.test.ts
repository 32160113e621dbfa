import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSealer } from '../../src/crypto/sealing';
import { createLogger } from '../../src/observability/logger';
import { createProviderRegistry } from '../../src/providers/registry';
import { startApi } from '../../src/servers/api-server';
import { runLunas } from '../cli/run-lunas';
import { SILENT } from '../support/collect-log';
import { eventually } from '../support/eventually';
import { freeListeners } from '../support/listeners';
import { signedNotification } from '../support/notification';
import { newNamespace, NO_LIMITS, startTestService, type TestService } from '../support/service';

const IN_FORCE_AFTER_MS = 2_000;
/** A caller without the account's key does not learn whether the account exists. */
const FORGED = 404;
const NEW_KEY = 'SB-Mid-server-rotated';

let service: TestService;
let otherApi: { url: string; close(): Promise<void> };
let home: string;
let accountId: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-server-key-'));
  service = await startTestService(await newNamespace());
  const { databaseUrl, temporal, masterKey } = service;
  const { listeners, apiUrl } = await freeListeners();
  const log = createLogger('test', 'silent');
  const api = { ...listeners, databaseUrl, temporal, masterKey, ...NO_LIMITS, environment: 'sandbox', log } as const;
  otherApi = await startApi({ ...api, publicBaseUrl: apiUrl });
  const { rows } = await service.db.query("select id from provider_accounts where provider = 'gopay'");
  accountId = rows[0].id;
});
afterAll(async () => {
  await otherApi.close();
  await service.close();
  await rm(home, { recursive: true });
});

const lunas = (...args: string[]) =>
  runLunas(args, {
    DATABASE_URL: service.databaseUrl,
    LUNAS_HOME: home,
    LUNAS_MASTER_KEY: service.masterKey,
    SERVER_KEY: NEW_KEY,
  });

async function notify(apiUrl: string, serverKey?: string): Promise<number> {
  const response = await fetch(`${apiUrl}/provider-notifications/${accountId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signedNotification('LN0000000000000000', {}, serverKey)),
  });
  return response.status;
}

const inForce = (apiUrl: string) =>
  eventually(
    () => notify(apiUrl, NEW_KEY),
    (status) => status === 200,
    IN_FORCE_AFTER_MS,
  );

it('a new server key is in force in every process within 2 seconds, and the leaked one signs nothing', async () => {
  const apis = [service.apiUrl, otherApi.url];
  expect(await Promise.all(apis.map((url) => notify(url)))).toEqual([200, 200]);
  const registry = createProviderRegistry({
    db: service.db,
    sealer: createSealer(service.masterKey),
    publicBaseUrl: service.apiUrl,
    log: SILENT,
  });
  const before = await registry.forAccount(accountId);

  const set = await lunas('accounts', 'set-key', accountId, '--server-key-env', 'SERVER_KEY', '--note', 'leaked');
  expect(set).toMatchObject({ exitCode: 0, stderr: '' });
  expect(set.stdout).not.toContain(NEW_KEY);
  await Promise.all(apis.map(inForce));
  expect(await Promise.all(apis.map((url) => notify(url)))).toEqual([FORGED, FORGED]);
  await eventually(
    () => registry.forAccount(accountId),
    (provider) => provider !== before,
    IN_FORCE_AFTER_MS,
  );
  await registry.close();
  const { rows } = await service.db.query(
    'select action, note from operator_actions where target = $1 order by id desc limit 1',
    [accountId],
  );
  expect(rows).toEqual([{ action: 'account.set_key', note: 'leaked' }]);
});

it('an account that was disabled is used again after accounts enable', async () => {
  expect((await lunas('accounts', 'disable', accountId)).exitCode).toBe(0);
  expect((await service.call('POST', '/payments', { amount: 50_000 })).status).toBe(400);
  const enabled = await lunas('accounts', 'enable', accountId, '--json');
  expect(JSON.parse(enabled.stdout).account.status).toBe('enabled');
});
