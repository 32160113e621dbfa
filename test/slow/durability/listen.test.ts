import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually';
import { LUNAS } from '../../support/lunas-process';
import { startReceiver, type ReceivedWebhook, type Receiver } from '../../support/receiver';
import { bySize } from '../../support/size';
import { SeparateService } from '../separate-service';

/** `lunas listen` as a developer runs it, with the built command. */

const TIMEOUT_MS = 600_000;
/** Every fourth one is of the API, the others of the CLI. */
const KILLS = bySize({ small: 8, full: 50 });
const RESPONSE_DELAY_MS = 20;

let service: SeparateService;
let receiver: Receiver;
/** The events that the receiver has responded to, in order. */
const forwarded: ReceivedWebhook[] = [];
/** While it is held, the receiver does not respond: a kill meets an event in flight. */
const held = { isHeld: false, events: 0 };

beforeAll(async () => {
  service = await SeparateService.open();
  await service.startServices();
  await service.start('api');
  await service.start('worker');
  receiver = await startReceiver();
  receiver.respond = (response, webhook) => {
    if (held.isHeld) held.events += 1;
    else {
      setTimeout(() => {
        forwarded.push(webhook);
        response.writeHead(204).end();
      }, RESPONSE_DELAY_MS);
    }
  };
}, TIMEOUT_MS);

afterAll(async () => {
  await receiver.close();
  await service.stopAll();
}, TIMEOUT_MS);

interface Listening {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
}

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

function listen(key: string, ...args: readonly string[]): Listening {
  const env = { ...service.commandEnvironment, LUNAS_KEY: key };
  const child = spawn(process.execPath, [LUNAS, 'listen', ...args], { env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const listening = { child, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (listening.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (listening.stderr += text));
  return listening;
}

async function exitCodeOf({ child }: Listening): Promise<unknown> {
  return child.exitCode ?? (await once(child, 'exit'))[0];
}

const seen = (listening: Listening, text: string) =>
  eventually(
    async () => `${listening.stdout}${listening.stderr}`,
    (printed) => printed.includes(text),
  );

/** Creates payments one after another, whether the API responds or not. */
async function createUntil(over: AbortSignal): Promise<void> {
  const { api_url: apiUrl, secret_key: key } = service.run;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  while (!over.aborted) {
    const init = { method: 'POST', headers, body: '{"amount":10000}' };
    await fetch(`${apiUrl}/payments`, init).catch(() => undefined);
    await sleep(100);
  }
}

const forwardedEvents = (): readonly string[] =>
  forwarded.map(({ headers, body }) => `${String(body['id'])} ${String(headers['x-service-event'])}`);

/** Keeps the order of the events of a payment. */
const byPayment = (a: string, b: string): number => {
  const [idOfA = '', idOfB = ''] = [a.split(' ')[0], b.split(' ')[0]];
  return idOfA < idOfB ? -1 : idOfA > idOfB ? 1 : 0;
};

it(
  'forwards each event, in order per payment, after any number of kills of API and CLI',
  async () => {
    const key = service.run.secret_key;
    const command = () => listen(key, '--forward-to', receiver.url);
    let listening = command();
    await seen(listening, 'Ready');
    const over = new AbortController();
    const creating = createUntil(over.signal);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      if (kill % 4 === 0) {
        await receiver.waitFor(receiver.received.length + 1);
        process.kill(service.pid('api'), 'SIGKILL');
        await service.start('api');
      } else {
        Object.assign(held, { isHeld: true, events: 0 });
        await eventually(
          async () => held.events,
          (events) => events > 0,
        );
        listening.child.kill('SIGKILL');
        await exitCodeOf(listening);
        held.isHeld = false;
        listening = command();
      }
    }
    over.abort();
    await creating;

    const { rows } = await eventually(
      () =>
        service.db.query<{ event: string }>(
          `select payment_id || ' ' || event as event from webhook_events order by payment_id, payment_version`,
        ),
      ({ rows }) => rows.every(({ event }) => forwardedEvents().includes(event)),
      // A busy machine forwards five events a second, and has a thousand to forward.
      300_000,
    );
    // A kill between the response and the save of the cursor repeats an event: only the last one.
    const firstTimes = [...new Set(forwardedEvents())];
    expect(firstTimes.toSorted()).toEqual(rows.map(({ event }) => event).toSorted());
    expect(firstTimes.toSorted(byPayment)).toEqual(rows.map(({ event }) => event));
    listening.child.kill('SIGTERM');
    expect(await exitCodeOf(listening)).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'ends with one sentence for a wrong key, a missing or malformed address, and an unknown event',
  async () => {
    const end = async (...args: readonly string[]) => {
      const listening = listen(`sk_test_${'0'.repeat(39)}`, ...args);
      return [await exitCodeOf(listening), listening.stderr];
    };
    const url = receiver.url;
    expect(
      await Promise.all([
        end('--forward-to', url),
        end(),
        end('--forward-to', 'localhost'),
        end('--forward-to', url, '--event', 'payment.gone'),
      ]),
    ).toEqual([
      [1, 'error: The API rejected the key: The secret key is mistyped, unknown, expired or revoked.\n'],
      [2, "error: required option '--forward-to <url>' not specified\n"],
      [2, "error: --forward-to must be a URL such as http://localhost:4000/webhooks, not 'localhost'\n"],
      [2, expect.stringMatching(/^error: --event must be payment\.created, .*, not 'payment\.gone'\n$/)],
    ]);
  },
  TIMEOUT_MS,
);
