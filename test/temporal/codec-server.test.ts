import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { z } from 'zod';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { freePort } from '../../src/local-stack/ports';
import { createLogger } from '../../src/observability/logger';
import { decryptionRecorder } from '../../src/services/audit/record-decryption';
import { verifyAudit } from '../../src/services/audit/verify-audit';
import { insertOperator, operatorFinder } from '../../src/services/identity/operators';
import { startCodecServer } from '../../src/temporal/codec-server';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { createTestDatabase } from '../support/database';
import { endOperatorKey } from '../support/keys';
import { payloadKeysOf } from '../support/payload-keys';

const ORIGIN = 'http://127.0.0.1:8233';
const keys = payloadKeysOf(randomBytes(32).toString('base64'));
const log = createLogger('test', 'silent');

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Pool;
let server: { url: string; close(): Promise<void> };
let open: { url: string; close(): Promise<void> };
let operator: { id: string; secret: string };

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
  operator = await insertOperator(db, { name: 'dewi', environment: 'production' });
  const record = decryptionRecorder(db, log);
  const settings = { keys, namespace: 'default', origins: [ORIGIN], record, log };
  const findOperator = operatorFinder(db, 'production');
  server = await startCodecServer({ ...settings, port: await freePort(), findOperator });
  open = await startCodecServer({ ...settings, port: await freePort(), findOperator: null });
});
afterAll(async () => {
  await Promise.all([server.close(), open.close()]);
  await db.end();
  await database.drop();
});

async function encrypted(value: unknown, workflowId = 'payment-1'): Promise<unknown> {
  const codec = new EncryptingCodec(keys, 'default');
  const [payload] = await codec.encode([defaultPayloadConverter.toPayload(value)], { workflowId });
  return payload && toJson(payload);
}

function toJson({ metadata, data }: Payload) {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  return { metadata: Object.fromEntries(entries), data: base64(data ?? Buffer.alloc(0)) };
}

function decode(url: string, payloads: unknown[], headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/decode`, { method: 'POST', headers, body: JSON.stringify({ payloads }) });
}

/** What was added to the audit log by the work. */
async function auditedBy(work: () => Promise<unknown>): Promise<unknown[]> {
  const { rows: before } = await db.query('select coalesce(max(id), 0) as id from operator_actions');
  await work();
  const { rows } = await db.query(
    `select actor, operator_id, action, target, operator_actions.detail::json as detail, outcome
     from operator_actions left join operator_action_outcomes on action_id = id where id > $1 order by id`,
    [before[0].id],
  );
  return rows;
}

async function valuesIn(response: Response): Promise<unknown[]> {
  const { payloads } = z.object({ payloads: z.array(z.object({ data: z.string() })) }).parse(await response.json());
  return payloads.map(({ data }) => JSON.parse(Buffer.from(data, 'base64').toString()));
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe('the codec server', () => {
  it('200: decrypts for an operator, by bearer token or password, and returns other payloads as they are', async () => {
    const payloads = [await encrypted({ total: 50_000 }), toJson(defaultPayloadConverter.toPayload('plain'))];
    for (const namespace of ['default', '']) {
      const byToken = await decode(server.url, payloads, { ...bearer(operator.secret), 'x-namespace': namespace });
      expect(await valuesIn(byToken)).toEqual([{ total: 50_000 }, 'plain']);
    }
    const authorization = `Basic ${Buffer.from(`dewi:${operator.secret}`).toString('base64')}`;
    const byPassword = await decode(server.url, payloads, { authorization });
    expect(await valuesIn(byPassword)).toEqual([{ total: 50_000 }, 'plain']);
  });

  it('writes who has decrypted what of which workflow into the audit log', async () => {
    const by = { actor: 'operator:dewi', operator_id: operator.id, action: 'workflow.decrypt', outcome: 'succeeded' };
    const one = [await encrypted(1), await encrypted(2)];
    const read = (payloads: unknown[]) => auditedBy(() => decode(server.url, payloads, bearer(operator.secret)));
    expect(await read(one)).toEqual([
      { ...by, target: 'payment-1', detail: { workflowIds: ['payment-1'], payloads: 2 } },
    ]);
    const workflowIds = Array.from({ length: 200 }, (_, index) => `payment-01a205fe-ef0f-74d8-87bf-${index}`);
    const many = await Promise.all(workflowIds.map((id) => encrypted('a list', id)));
    expect(await read(many)).toEqual([{ ...by, target: '200 workflows', detail: { workflowIds, payloads: 200 } }]);
    expect((await verifyAudit(db)).breaks).toEqual([]);
  });

  it('writes nothing if nothing is decrypted', async () => {
    const claimed = { encoding: 'binary/encrypted', workflow: 'payment-9', key: '00000000' };
    const metadata = Object.entries(claimed).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
    const forged = { metadata: Object.fromEntries(metadata), data: 'AAAA' };
    const plain = toJson(defaultPayloadConverter.toPayload('plain'));
    const read = (payloads: unknown[]) => decode(server.url, payloads, bearer(operator.secret));
    expect(await auditedBy(() => read([forged, plain]))).toEqual([]);
    expect(await auditedBy(() => read([]))).toEqual([]);
    expect(await auditedBy(async () => decode(server.url, [await encrypted('x')]))).toEqual([]);
    expect(await auditedBy(async () => decode(open.url, [await encrypted('x')]))).toEqual([]);
  });

  it('503: shows nothing that the audit log cannot have', async () => {
    const withoutRights = createPool(database.urlOf('lunas_local_worker'), { max: 1 });
    const settings = { keys, namespace: 'default', origins: [], findOperator: operatorFinder(db, 'production'), log };
    const record = decryptionRecorder(withoutRights, log);
    const unrecorded = await startCodecServer({ ...settings, port: await freePort(), record });
    const response = await decode(unrecorded.url, [await encrypted('secret')], bearer(operator.secret));
    expect([response.status, await response.json()]).toEqual([503, { message: expect.stringMatching(/audit log/) }]);
    await unrecorded.close();
    await withoutRights.end();
  });

  it('401: without a key, with an unknown or revoked one, and with one that may not read from here', async () => {
    const other = await insertOperator(db, { name: 'budi', environment: 'production' });
    await endOperatorKey(db, other.id);
    const settling = { name: 'sari', environment: 'production', scopes: ['settle'] } as const;
    const remote = { name: 'rina', environment: 'production', allowedNetworks: ['10.0.0.0/8'] } as const;
    const { secret: withoutScope } = await insertOperator(db, settling);
    const { secret: forElsewhere } = await insertOperator(db, remote);
    const secrets = ['op_live_unknown', other.secret, withoutScope, forElsewhere];
    for (const headers of [{}, ...secrets.map(bearer)]) {
      const response = await decode(server.url, [await encrypted('secret')], headers);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic/);
      expect(await response.text()).not.toContain('payloads');
    }
  });

  it('shows a payload that is not authentic as rejected', async () => {
    const forged = { metadata: { encoding: Buffer.from('binary/encrypted').toString('base64') }, data: 'AAAA' };
    const [value] = await valuesIn(await decode(server.url, [forged], bearer(operator.secret)));
    expect(value).toEqual({ rejectedPayload: expect.stringMatching(/key/) });
  });

  it('400: another namespace, and a body that is not one of payloads', async () => {
    const headers = bearer(operator.secret);
    expect((await decode(server.url, [], { ...headers, 'x-namespace': 'other' })).status).toBe(400);
    expect((await decode(server.url, [{ data: 7 }], headers)).status).toBe(400);
    expect((await fetch(`${server.url}/decode`, { method: 'POST', headers, body: '{' })).status).toBe(400);
  });

  it('404: encryption is not offered', async () => {
    const response = await fetch(`${server.url}/encode`, { method: 'POST', headers: bearer(operator.secret) });
    expect(response.status).toBe(404);
  });

  it('the codec server needs no key in sandbox, and serves pages of the Web UI only', async () => {
    const payloads = [await encrypted('for the page')];
    const response = await decode(open.url, payloads, { origin: ORIGIN });
    expect(await valuesIn(response)).toEqual(['for the page']);
    expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect((await decode(open.url, payloads, { origin: 'http://evil.example' })).status).toBe(403);
    const preflight = await fetch(`${open.url}/decode`, {
      method: 'OPTIONS',
      headers: { origin: ORIGIN, 'access-control-request-headers': 'content-type,x-namespace' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type,x-namespace');
  });
});
