import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryDirectory } from '../../local-stack/processes';
import { startApiProcess, startWorkerProcess, type ApiProcess, type BuiltProcess } from '../../support/api-process';
import { createAuthority, createCertificate, type CertificateFiles } from '../../support/certificates';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { startTlsTerminator, type TlsTerminator } from '../../support/tls-terminator';

/** Temporal behind a terminator that requires a client certificate, with an API and a worker of their own processes. */
let service: TestService;
let terminator: TlsTerminator;
let oldAuthority: CertificateFiles;
let newAuthority: CertificateFiles;
let newClient: CertificateFiles;
let newerClient: CertificateFiles;
let foreign: CertificateFiles;
/** The files that the processes are given. */
let used: CertificateFiles;
let settings: NodeJS.ProcessEnv;
let api: ApiProcess;
let worker: BuiltProcess;

beforeAll(async () => {
  const directory = await temporaryDirectory();
  oldAuthority = await createAuthority(directory, 'old-authority');
  newAuthority = await createAuthority(directory, 'new-authority');
  const server = await createCertificate(directory, 'server', oldAuthority);
  const oldClient = await createCertificate(directory, 'old-client', oldAuthority);
  newClient = await createCertificate(directory, 'new-client', newAuthority);
  newerClient = await createCertificate(directory, 'newer-client', newAuthority);
  foreign = await createCertificate(directory, 'foreign', await createAuthority(directory, 'foreign-authority'));
  used = { certificate: path.join(directory, 'used.pem'), key: path.join(directory, 'used.key') };
  await replaceBy(oldClient);

  service = await startTestService(await newNamespace());
  await service.stopWorker();
  terminator = await startTlsTerminator(service.temporal.address, server, oldAuthority, newAuthority);
  settings = {
    TEMPORAL_ADDRESS: terminator.address,
    TEMPORAL_TLS_CA: oldAuthority.certificate,
    TEMPORAL_TLS_CERT: used.certificate,
    TEMPORAL_TLS_KEY: used.key,
    LOG_LEVEL: 'info',
  };
  [api, worker] = await Promise.all([startApiProcess(service, settings), startWorkerProcess(service, settings)]);
});

afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await terminator.close();
  await service.close();
});

async function replaceBy(files: CertificateFiles): Promise<void> {
  await copyFile(files.certificate, used.certificate);
  await copyFile(files.key, used.key);
}

async function createPayment(): Promise<{ status: number; referenceId: string; id: string }> {
  const response = await fetch(`${api.url}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 50_000 }),
  });
  const { payment } = JSON.parse(await response.text());
  return { status: response.status, referenceId: payment?.reference_id, id: payment?.id };
}

const untilPaid = (id: string) =>
  eventually(
    () => service.transitionsOf(id),
    (transitions) => transitions.includes('pay'),
  );

const untilLogged = (message: string) =>
  eventually(
    () => Promise.all([api.log(), worker.log()]),
    (logs) => logs.every((log) => log.includes(message)),
  );

it('creates and completes payments with a client certificate', async () => {
  const { status, id, referenceId } = await createPayment();
  expect(status).toBe(201);
  await service.pay(referenceId);
  await untilPaid(id);
});

it('a replaced pair that Temporal does not accept is reported, and the old one stays in use', async () => {
  await replaceBy(foreign);
  await untilLogged('new Temporal certificates not used; the old ones stay in use');
  expect((await createPayment()).status).toBe(201);
});

it('API and worker use a replaced pair without a restart, and no create fails meanwhile', async () => {
  const open = await createPayment();
  const statuses: number[] = [];
  const untilConnectedAs = (client: string) =>
    eventually(
      async () => {
        statuses.push((await createPayment()).status);
        return terminator.clients().filter((name) => name === client).length;
      },
      // A connection of the API, and that of the workers.
      (connections) => connections >= 2,
    );
  await replaceBy(newClient);
  await untilConnectedAs('new-client');
  await untilLogged('Temporal certificates replaced');
  // The workers close a connection at the next replacement but one.
  await replaceBy(newerClient);
  await untilConnectedAs('newer-client');
  expect(new Set(statuses)).toEqual(new Set([201]));

  // No process can connect with the old pair any more.
  terminator.accept(newAuthority);
  terminator.cut();
  await service.pay(open.referenceId);
  await untilPaid(open.id);
  await eventually(createPayment, ({ status }) => status === 201);
});

/** Why a process does not start. */
async function failureOf(start: typeof startApiProcess | typeof startWorkerProcess, changes: NodeJS.ProcessEnv) {
  return start(service, { ...settings, ...changes }).then(
    async (started) => `it started, and ended with ${await started.stop()}`,
    (failure: Error) => failure.message,
  );
}

it.each([
  ['a wrong authority', () => ({ TEMPORAL_TLS_CA: newAuthority.certificate }), /self-signed|unable to verify/],
  ['a wrong server name', () => ({ TEMPORAL_TLS_SERVER_NAME: 'other.example' }), /other\.example/],
  ['no client certificate', () => ({ TEMPORAL_TLS_CERT: '', TEMPORAL_TLS_KEY: '' }), /alert certificate required/],
])('%s: neither API nor worker starts, and both report why', async (_, changes, reason) => {
  for (const start of [startApiProcess, startWorkerProcess]) {
    const failure = await failureOf(start, changes());
    expect(failure).toMatch(/Temporal and this process do not connect: .*Correct TEMPORAL_TLS_CA/);
    expect(failure).toMatch(reason);
  }
});

it('a server that closes the connection may have an outage: the API starts, and reports it', async () => {
  const changes = { TEMPORAL_TLS_CERT: foreign.certificate, TEMPORAL_TLS_KEY: foreign.key };
  const started = await startApiProcess(service, { ...settings, ...changes });
  expect(await started.log()).toMatch(/closes the connection, as a server does.*"Temporal not available"/);
  expect(await started.stop()).toBe(0);
  expect(await failureOf(startWorkerProcess, changes)).toMatch(/Temporal, namespace: It cannot be checked/);
});
