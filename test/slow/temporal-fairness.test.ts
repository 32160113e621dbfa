import path from 'node:path';
import { connectClient } from '../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../src/temporal/payload-codec';
import { checkRequirements, setUpRequirements, type TemporalAccess } from '../../src/temporal/requirements';
import { launch, type ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { temporaryDirectory } from '../local-stack/processes';
import { eventually } from '../support/eventually';
import { testEnvironment } from '../support/test-environment';

let server: ManagedProcess;
let access: TemporalAccess;

/** A dev server with Temporal's own defaults: four partitions per task queue, no fairness. */
beforeAll(async () => {
  const [port, uiPort] = [await freePort(), await freePort()];
  server = await launch({
    command: testEnvironment('TEMPORAL_CLI_PATH'),
    args: ['server', 'start-dev', '--headless', '--port', String(port), '--http-port', String(uiPort)],
    logFile: path.join(await temporaryDirectory(), 'temporal.log'),
    stopSignals: [{ signal: 'SIGTERM', graceMs: 5_000 }],
  });
  const target = { address: `127.0.0.1:${port}`, namespace: 'default', security: {} };
  access = { client: connectClient(target, NO_PAYLOAD_KEYS), target };
  await eventually(
    () => checkRequirements(access).catch(() => []),
    (requirements) => requirements.some(({ name, state }) => name === 'namespace' && state === 'ok'),
  );
});

afterAll(async () => {
  await access.client.connection.close();
  await server.stop();
});

it('setup finds out that the server does not schedule fairly, and reports it with what to do', async () => {
  const before = await checkRequirements(access);
  expect(before.find(({ name }) => name === 'fairness')?.violation).toMatch(/^No task has waited yet/);
  const after = await setUpRequirements(access);
  expect(after.filter(({ state }) => state !== 'ok').map(({ name }) => name)).toEqual(['fairness']);
  const expected = {
    violation: expect.stringMatching(/^The server does not schedule fairly/),
    advice: expect.stringContaining('matching.enableFairness'),
  };
  expect((await checkRequirements(access)).find(({ name }) => name === 'fairness')).toMatchObject(expected);
});
