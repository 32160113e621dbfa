import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createSealer, type Sealer } from '../../../src/crypto/sealing';
import { startReceiver, type ReceivedWebhook, type Receiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint, rotate } from '../../support/webhooks';

const INSTALL_TIMEOUT_MS = 300_000;
const RUN_TIMEOUT_MS = 60_000;

/** A published library of Standard Webhooks: how it is installed in an empty directory, and how the check is run. */
interface Library {
  readonly install: (directory: string) => void;
  readonly command: readonly [program: string, ...args: string[]];
}

/** Each version is one that `docs/webhooks.md` names. */
const LIBRARIES: Readonly<Record<string, Library>> = {
  'Node.js': {
    install: (directory) => {
      writeFileSync(path.join(directory, 'package.json'), '{"private": true}');
      run(directory, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', 'standardwebhooks@1.1.1');
    },
    command: ['node', 'verify.mjs'],
  },
  Python: {
    install: (directory) =>
      run(directory, 'python3', '-m', 'pip', 'install', '--quiet', '--target', '.', 'standardwebhooks==1.1.0'),
    command: ['python3', 'verify.py'],
  },
  Go: {
    install: (directory) => run(directory, 'go', 'build', '-o', 'verify', '.'),
    command: ['./verify'],
  },
  Java: {
    install: (directory) => {
      const artifact = '-Dartifact=com.standardwebhooks:standardwebhooks:1.1.0';
      run(directory, 'mvn', '--quiet', '--batch-mode', 'dependency:copy', artifact, '-DoutputDirectory=.');
    },
    command: ['java', '-cp', 'standardwebhooks-1.1.0.jar', 'Verify.java'],
  },
};

let service: TestService;
let receiver: Receiver;
let sealer: Sealer;
let endpointId: string;
let secret: string;
let webhook: ReceivedWebhook;

beforeAll(async () => {
  [service, receiver] = await Promise.all([
    newNamespace().then((temporal) => startTestService(temporal)),
    startReceiver(),
  ]);
  sealer = createSealer(service.masterKey);
  ({ id: endpointId, secret } = await registerEndpoint(service.db, sealer, {
    merchantId: service.merchantId,
    url: receiver.url,
    events: ['payment.pending'],
  }));
  webhook = await nextDelivery();
});

afterAll(() => Promise.all([service.close(), receiver.close()]));

async function nextDelivery(): Promise<ReceivedWebhook> {
  const count = receiver.received.length + 1;
  await service.call('POST', '/payments', { amount: 50_000, merchant_reference_id: 'PESANAN é 支付' });
  await receiver.waitFor(count);
  const [last] = receiver.received.slice(-1);
  if (!last) throw new Error('There is no delivery');
  return last;
}

function run(directory: string, program: string, ...args: string[]): void {
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' };
  execFileSync(program, args, {
    cwd: directory,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/** A delivery as it arrived, with changes of an attacker. */
function lineOf({ headers, rawBody }: ReceivedWebhook, key: string, changes: Record<string, string> = {}): string {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const values = names.map((name) => changes[name] ?? String(headers[name]));
  return [key, ...values, Buffer.from(changes.body ?? rawBody).toString('base64')].join('\t');
}

describe('deliveries of the service', () => {
  let lines: readonly string[];
  const expected = {
    'a delivery': 'genuine',
    'another id': 'forged',
    'another timestamp': 'forged',
    'another body': 'forged',
    'another secret': 'forged',
    'the new secret during a rotation': 'genuine',
    'the old secret during a rotation': 'genuine',
  } as const;

  beforeAll(async () => {
    const timestamp = String(Number(webhook.headers['webhook-timestamp']) + 1);
    const tampered = [
      lineOf(webhook, secret),
      lineOf(webhook, secret, { 'webhook-id': '00000000-0000-7000-8000-000000000000' }),
      lineOf(webhook, secret, { 'webhook-timestamp': timestamp }),
      lineOf(webhook, secret, { body: `${webhook.rawBody} ` }),
      lineOf(webhook, `whsec_${Buffer.alloc(32, 1).toString('base64')}`),
    ];
    const rotated = await rotate({ db: service.db, sealer }, endpointId, { overlapSeconds: 3_600 });
    const newSecret = rotated.secret ?? '';
    const during = await nextDelivery();
    const rotation = [lineOf(during, newSecret), lineOf(during, secret)];
    lines = [...tampered, ...rotation];
  });

  it.each(Object.entries(LIBRARIES))(
    'the published library for %s verifies the deliveries of the service',
    (_language, { install, command: [program, ...args] }) => {
      const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-standard-webhooks-'));
      try {
        cpSync(path.join(__dirname, 'standard-webhooks'), directory, { recursive: true });
        install(directory);
        const input = `${lines.join('\n')}\n`;
        const output = execFileSync(program, args, {
          cwd: directory,
          input,
          encoding: 'utf8',
          timeout: RUN_TIMEOUT_MS,
        });
        const decisions = output.trim().split('\n');
        expect(Object.fromEntries(Object.keys(expected).map((name, index) => [name, decisions[index]]))).toEqual(
          expected,
        );
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
    INSTALL_TIMEOUT_MS + RUN_TIMEOUT_MS,
  );
});
