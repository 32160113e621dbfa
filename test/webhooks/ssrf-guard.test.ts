import { execFile } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { resolveByDns, type ResolveHost } from '../../src/webhooks/resolve-host';
import { createWebhookSender, type WebhookAttempt } from '../../src/webhooks/send';
import { addressRulesOf, urlViolation, type ReceiverRules } from '../../src/webhooks/ssrf-guard';
import { collectGarbage } from '../support/collect-garbage';
import { webhookTo } from './webhook';

/** Rejects loopback, as in production. Allows http, so that the canary needs no certificate. */
const GUARDED: ReceiverRules = { environment: 'sandbox', allowedNetworks: [] };
const UNGUARDED: ReceiverRules = { environment: 'sandbox', allowedNetworks: ['0.0.0.0/0', '::/0'] };

const servers: Server[] = [];

async function listen(host: string, port: number, listener: RequestListener): Promise<number> {
  return listening(createServer(listener), host, port);
}

async function listening(server: Server, host: string, port: number): Promise<number> {
  servers.push(server.listen(port, host));
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function send(
  rules: ReceiverRules,
  url: string,
  resolve: ResolveHost = () => Promise.reject(new Error('no name is resolved here')),
): Promise<WebhookAttempt> {
  const sender = createWebhookSender(rules, resolve);
  try {
    return await sender.send(webhookTo(url), new AbortController().signal);
  } finally {
    await sender.close();
  }
}

function at(...addresses: string[]): LookupAddress[] {
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

describe('the canary, an internal server,', () => {
  let port: number;
  let hits: number;
  let callers: (string | undefined)[];

  beforeEach(async () => {
    hits = 0;
    callers = [];
    const canary: RequestListener = (request, response) => {
      hits += 1;
      callers.push(request.socket.localAddress);
      response.end();
    };
    port = await listen('127.0.0.1', 0, canary);
    await listen('::1', port, canary);
  });

  const literals = [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0x7f.0x0.0x0.0x1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '0.0.0.0',
    '0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
  ];

  it.each(literals)('the literal %s reaches an internal server only without the guard', async (host) => {
    const url = `http://${host}:${port}/`;
    expect((await send(GUARDED, url)).failure).toMatch(/^not called: the URL must not lead to .*, which is /);
    expect(hits).toBe(0);
    expect((await send(UNGUARDED, url)).failure).toBeNull();
    expect(hits).toBe(1);
  });

  it.each([
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['0.0.0.0']],
    [['127.0.0.1', '1.1.1.1']],
    [['::1', '2606:4700::1111', '1.1.1.1']],
  ])('a name with the addresses %j reaches an internal server only without the guard', async (addresses) => {
    const resolve = () => Promise.resolve(at(...addresses));
    const url = `http://receiver.test:${port}/`;
    expect((await send(GUARDED, url, resolve)).failure).toMatch(/^not called: receiver.test leads to .*, which is /);
    expect(hits).toBe(0);
    // Only the first one: a test must not call the others.
    expect((await send(UNGUARDED, url, () => Promise.resolve(at(addresses[0] ?? '')))).failure).toBeNull();
    expect(hits).toBe(1);
  });

  // From here on ::1 represents a public address, and the canary on 127.0.0.1 an internal one.
  const ONE_OPEN: ReceiverRules = { environment: 'sandbox', allowedNetworks: ['::1'] };

  it('an internal server is not reached if only a later address of the name is internal', async () => {
    const response = await send(ONE_OPEN, `http://receiver.test:${port}/`, () =>
      Promise.resolve(at('::1', '127.0.0.1')),
    );
    expect(response.failure).toContain('127.0.0.1, which is loopback');
    expect(hits).toBe(0);
  });

  it('an internal server is not reached by a name that changes after the check (DNS rebinding)', async () => {
    const lookups: string[] = [];
    const rebinding = (name: string) => Promise.resolve(at(lookups.push(name) === 1 ? '::1' : '127.0.0.1'));
    const url = `http://rebinding.test:${port}/`;
    expect((await send(ONE_OPEN, url, rebinding)).failure).toBeNull();
    expect([lookups.length, callers]).toEqual([1, ['::1']]);
    expect((await send(ONE_OPEN, url, rebinding)).failure).toContain('127.0.0.1, which is loopback');
    expect([lookups.length, callers]).toEqual([2, ['::1']]);
  });

  it('an internal server is not reached by a redirect', async () => {
    const friend = await listen('127.0.0.1', 0, (_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    const response = await send(UNGUARDED, `http://127.0.0.1:${friend}/`);
    expect(response).toMatchObject({ statusCode: 307, failure: 'the receiver returned 307' });
    expect(hits).toBe(0);
  });

  it('an internal server is not used as a proxy, with any proxy environment variable', async () => {
    const friend = await listen('127.0.0.1', 0, (_request, response) => void response.end());
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${port}`;
    try {
      expect((await send(UNGUARDED, `http://127.0.0.1:${friend}/`)).failure).toBeNull();
    } finally {
      for (const name of names) delete process.env[name];
    }
    expect(hits).toBe(0);
  });

  it('an internal server is not reached at another port of a public address', async () => {
    const resolve = () => Promise.resolve(at('1.1.1.1'));
    expect((await send(GUARDED, `http://receiver.test:${port}/`, resolve)).failure).toBe(
      `not called: receiver.test leads to port ${port} of a public address`,
    );
  });
});

describe('a URL', () => {
  const production: ReceiverRules = { environment: 'production' };
  const sandbox: ReceiverRules = { environment: 'sandbox' };
  const inside = { environment: 'production', allowedNetworks: ['10.0.0.0/8'] } as const;

  it.each([
    ['https://shop.example/webhooks?shop=1', production],
    ['https://shop.example:443/', production],
    ['https://1.1.1.1/', production],
    ['https://[2606:4700::1111]/', production],
    ['https://10.1.2.3/', inside],
    ['http://shop.example/', sandbox],
    ['http://shop.example:4000/', sandbox],
    ['http://127.0.0.1:4000/', sandbox],
    ['http://[::1]:4000/', sandbox],
    ['https://localhost:4000/', sandbox],
  ] as const)('%s may be registered (%j)', (url, rules) => {
    expect(urlViolation(url, addressRulesOf(rules))).toBeNull();
  });

  it.each([
    ['http://shop.example/', production, 'must begin with https:// in production'],
    ['ftp://shop.example/', sandbox, 'must be absolute and begin with http:// or https://'],
    ['file:///etc/passwd', sandbox, 'must be absolute and begin with http:// or https://'],
    ['//shop.example/', sandbox, 'must be absolute and begin with http:// or https://'],
    ['http://user@shop.example/', sandbox, 'must not contain a user name or password'],
    ['https://shop.example:8443/', production, 'must not name a port in production'],
    ['https://10.1.2.3:8443/', inside, 'must not name a port in production'],
    ['https://127.0.0.1/', production, 'must not lead to 127.0.0.1, which is loopback'],
    ['https://0x7f.1/', production, 'must not lead to 127.0.0.1, which is loopback'],
    ['https://2852039166/', production, 'must not lead to 169.254.169.254, which is link-local'],
    ['https://[::ffff:10.0.0.1]/', production, 'must not lead to ::ffff:a00:1, which is private'],
    ['https://[64:ff9b::a00:1]/', production, 'must not lead to 64:ff9b::a00:1, which is an IPv4 address in IPv6'],
    ['http://10.0.0.1/', sandbox, 'must not lead to 10.0.0.1, which is private'],
    ['http://1.1.1.1:4000/', sandbox, 'must not lead to port 4000 of a public address'],
    ['http://[fe80::1%25lo]/', sandbox, 'must be absolute and begin with http:// or https://'],
  ] as const)('%s may not be registered (%j): %s', (url, rules, rule) => {
    expect(urlViolation(url, addressRulesOf(rules))).toContain(rule);
  });

  it('a URL is checked at each attempt: the rules may have changed', async () => {
    expect((await send({ environment: 'production' }, 'http://shop.example/')).failure).toBe(
      'not called: the URL must begin with https:// in production',
    );
  });
});

describe('a response', () => {
  it('a response with slow headers, a slow body or no end takes at most ten seconds', async () => {
    const timers = [setInterval(collectGarbage, 1_000)];
    const trickle = (write: () => void) => timers.push(setInterval(write, 200));
    const port = await listen('127.0.0.1', 0, (request, response) => {
      if (request.url === '/silent') return;
      if (request.url === '/head') trickle(() => response.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'));
      if (request.url === '/body') {
        response.writeHead(200);
        trickle(() => response.write('.'));
      }
    });
    const startedAt = Date.now();
    const paths = ['silent', 'head', 'body'];
    const responses = await Promise.all(paths.map((path) => send(UNGUARDED, `http://127.0.0.1:${port}/${path}`)));
    for (const timer of timers) clearInterval(timer);
    expect(responses.map(({ failure }) => failure)).toEqual([
      'no complete response within 10 s',
      'no complete response within 10 s',
      'no complete response within 10 s, after status 200',
    ]);
    // A timeout that begins again with each byte would never end.
    expect(Date.now() - startedAt).toBeLessThan(30_000);
  });

  it('a response with endless headers is aborted', async () => {
    const port = await listen('127.0.0.1', 0, (_request, response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${'x-filler: y\r\n'.repeat(100_000)}`);
    });
    expect((await send(UNGUARDED, `http://127.0.0.1:${port}/`)).failure).toMatch(/[Hh]eader/);
  });

  it('a response is read up to 16 kB: memory does not grow with its size', async () => {
    const offeredBytes = 64 * 1024 * 1024;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    const port = await listen('127.0.0.1', 0, (_request, response) => {
      let left = offeredBytes;
      const more = () => {
        while (left > 0 && !response.destroyed) {
          left -= chunk.length;
          written += chunk.length;
          if (!response.write(chunk)) return;
        }
      };
      response.writeHead(200).on('drain', more);
      more();
    });
    const sender = createWebhookSender(UNGUARDED);
    const attempts = 40;
    const before = process.memoryUsage().rss;
    for (let count = 0; count < attempts; count += 1) {
      const { failure, responseExcerpt } = await sender.send(webhookTo(`http://127.0.0.1:${port}/`));
      expect([failure, responseExcerpt]).toEqual([null, 'x'.repeat(500)]);
    }
    await sender.close();
    const grown = process.memoryUsage().rss - before;
    expect(written).toBeLessThan((attempts * offeredBytes) / 4);
    expect(grown).toBeLessThan(2 * offeredBytes);
  });

  it('a response is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'A'));
    const port = await listen('127.0.0.1', 0, (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    const { failure, responseExcerpt } = await send(UNGUARDED, `http://127.0.0.1:${port}/`);
    expect(failure).toBeNull();
    expect(responseExcerpt).not.toContain('AAAA');
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  });
});

describe('TLS', () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-tls-'));
  const [key, cert] = [path.join(directory, 'key.pem'), path.join(directory, 'cert.pem')];

  beforeAll(() =>
    promisify(execFile)('openssl', [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=receiver.test',
      '-addext',
      'subjectAltName=DNS:receiver.test',
      '-keyout',
      key,
      '-out',
      cert,
    ]),
  );
  afterAll(() => rmSync(directory, { recursive: true }));

  it('a receiver with an untrusted certificate fails before the request is sent', async () => {
    let hits = 0;
    let servername: string | undefined;
    const server = createTlsServer(
      {
        key: readFileSync(key),
        cert: readFileSync(cert),
        SNICallback: (name, done) => {
          servername = name;
          done(null);
        },
      },
      (_request, response) => {
        hits += 1;
        response.end();
      },
    );
    const port = await listening(server, '127.0.0.1', 0);
    const url = `https://receiver.test:${port}/`;
    const response = await send(UNGUARDED, url, () => Promise.resolve(at('127.0.0.1')));
    expect(response.failure).toMatch(/self-signed certificate/);
    expect([hits, servername]).toEqual([0, 'receiver.test']);
  });

  it('fails with a server without TLS', async () => {
    let hits = 0;
    const port = await listen('127.0.0.1', 0, () => (hits += 1));
    expect((await send(UNGUARDED, `https://127.0.0.1:${port}/`)).failure).not.toBeNull();
    expect(hits).toBe(0);
  });
});

describe('a name in production', () => {
  let socket: Socket;
  let questions: number;
  let responses: Record<number, Buffer[]>;
  const TYPE_A = 1;
  const TYPE_AAAA = 28;

  /** A name server with the same records for every name. Without records it sends no response. */
  beforeEach(async () => {
    questions = 0;
    socket = createSocket('udp4').bind(0, '127.0.0.1');
    socket.on('message', (query, from) => {
      questions += 1;
      const question = query.subarray(12, query.indexOf(0, 12) + 5);
      const records = responses[question.readUInt16BE(question.length - 4)];
      if (!records) return;
      const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]);
      query.copy(header, 0, 0, 2);
      const lines = records.map((data) =>
        Buffer.concat([
          Buffer.from([0xc0, 12]),
          question.subarray(-4),
          Buffer.from([0, 0, 0, 0, 0, data.length]),
          data,
        ]),
      );
      socket.send(Buffer.concat([header, question, ...lines]), from.port, from.address);
    });
    await once(socket, 'listening');
  });
  afterEach(() => socket.close());

  const resolver = () => resolveByDns([`127.0.0.1:${socket.address().port}`]);

  it('resolves to all its addresses of both families', async () => {
    const ipv6 = Buffer.from('26064700000000000000000000001111', 'hex');
    responses = { [TYPE_A]: [Buffer.from([1, 1, 1, 1]), Buffer.from([127, 0, 0, 1])], [TYPE_AAAA]: [ipv6] };
    expect(await resolver()('receiver.test')).toEqual(at('1.1.1.1', '127.0.0.1', '2606:4700::1111'));
  });

  it('a name in production is not called if one of its addresses is internal', async () => {
    responses = { [TYPE_A]: [Buffer.from([1, 1, 1, 1]), Buffer.from([10, 0, 0, 7])], [TYPE_AAAA]: [] };
    const { failure } = await send({ environment: 'production' }, 'https://receiver.test/', resolver());
    expect(failure).toContain('receiver.test leads to 10.0.0.7, which is private');
    expect(questions).toBe(2);
  });

  it('fails in time if its name servers do not respond', async () => {
    responses = {};
    const { failure, durationMs } = await send({ environment: 'production' }, 'https://receiver.test/', resolver());
    expect(failure).toMatch(/ETIMEOUT|within 10 s/);
    expect(durationMs).toBeLessThan(20_000);
  });
});
