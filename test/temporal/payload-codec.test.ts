import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { createLogger } from '../../src/observability/logger';
import { setRecorder } from '../../src/observability/metrics';
import { EncryptingCodec, WorkerCodec } from '../../src/temporal/payload-codec';
import { payloadKeysOf } from '../support/payload-keys';

const newKey = () => randomBytes(32).toString('base64');
const inWorkflow = (workflowId: string) => ({ workflowId });
const masterKey = newKey();
const codec = new EncryptingCodec(payloadKeysOf(masterKey), 'default');

async function encrypt(value: unknown, workflowId: string, by = codec): Promise<Payload> {
  const [payload] = await by.encode([defaultPayloadConverter.toPayload(value)], inWorkflow(workflowId));
  if (!payload) throw new Error('nothing was encoded');
  return payload;
}

async function decrypt(payload: Payload, workflowId?: string, by = codec): Promise<unknown> {
  const [decoded] = await by.decode([payload], workflowId === undefined ? undefined : inWorkflow(workflowId));
  return decoded && defaultPayloadConverter.fromPayload(decoded);
}

describe('the payload codec', () => {
  it('returns what it encrypted, also without a context and for an absent value', async () => {
    const payload = await encrypt({ total: 50_000 }, 'payment-1');
    expect(Buffer.from(payload.data ?? []).toString()).not.toContain('total');
    expect(await decrypt(payload, 'payment-1')).toEqual({ total: 50_000 });
    expect(await decrypt(payload)).toEqual({ total: 50_000 });
    expect(await decrypt(await encrypt(undefined, 'payment-1'), 'payment-1')).toBeUndefined();
  });

  it('rejects a payload that is not encrypted', async () => {
    const plain = defaultPayloadConverter.toPayload('settle');
    await expect(decrypt(plain, 'payment-1')).rejects.toThrow('it is not encrypted');
  });

  it('rejects a payload of another workflow, also under a changed workflow id', async () => {
    const payload = await encrypt('settle', 'payment-1');
    await expect(decrypt(payload, 'payment-2')).rejects.toThrow('it belongs to the workflow payment-1');
    const renamed = { ...payload, metadata: { ...payload.metadata, workflow: Buffer.from('payment-2') } };
    await expect(decrypt(renamed, 'payment-2')).rejects.toThrow(/authenticate/);
  });

  it('rejects a payload of another namespace, with another encoding, or with a changed or short text', async () => {
    const payload = await encrypt('settle', 'payment-1');
    const elsewhere = new EncryptingCodec(payloadKeysOf(masterKey), 'another');
    await expect(decrypt(payload, 'payment-1', elsewhere)).rejects.toThrow(/authenticate/);
    const recoded = { ...payload, metadata: { ...payload.metadata, content: Buffer.from('binary/plain') } };
    await expect(decrypt(recoded, 'payment-1')).rejects.toThrow(/authenticate/);
    const data = Buffer.from(payload.data ?? []);
    const changed = Buffer.concat([data.subarray(0, -1), Buffer.from([(data.at(-1) ?? 0) ^ 1])]);
    await expect(decrypt({ ...payload, data: changed }, 'payment-1')).rejects.toThrow(/authenticate/);
    await expect(decrypt({ ...payload, data: data.subarray(0, 16) }, 'payment-1')).rejects.toThrow('it is too short');
  });

  it('encrypts with the first key and decrypts with each', async () => {
    const newer = newKey();
    const both = new EncryptingCodec(payloadKeysOf(newer, masterKey), 'default');
    expect(await decrypt(await encrypt('old', 'payment-1'), 'payment-1', both)).toBe('old');
    const payload = await encrypt('new', 'payment-1', both);
    expect(await decrypt(payload, 'payment-1', new EncryptingCodec(payloadKeysOf(newer), 'default'))).toBe('new');
    await expect(decrypt(payload, 'payment-1')).rejects.toThrow(/which this process does not have/);
  });

  it('decrypts the payloads of all workflows of a schedule in each of them', async () => {
    const payload = await encrypt('result', 'reconciliation-2026-11-22T20:00:00Z');
    expect(await decrypt(payload, 'reconciliation-2026-11-22T21:00:00Z')).toBe('result');
    expect(await decrypt(payload, 'reconciliation')).toBe('result');
  });

  it('the codec of a worker throws what does not concern the payload, so that Temporal repeats the task', async () => {
    const payload = await encrypt('settle', 'payment-1');
    const unavailable = { ...payloadKeysOf(masterKey), find: () => Promise.reject(new Error('connect ECONNREFUSED')) };
    const worker = new WorkerCodec(new EncryptingCodec(unavailable, 'default'), createLogger('test', 'silent'));
    await expect(worker.decode([payload], inWorkflow('payment-1'))).rejects.toThrow('connect ECONNREFUSED');
  });

  it('the codec of a worker replaces a payload that is not authentic', async () => {
    const rejected: string[] = [];
    setRecorder({ increment: (name) => rejected.push(name), observe: () => undefined });
    const worker = new WorkerCodec(codec, createLogger('test', 'silent'));
    const payloads = [await encrypt('settle', 'payment-1'), defaultPayloadConverter.toPayload('refund')];
    const decoded = await worker.decode(payloads, inWorkflow('payment-1'));
    expect(decoded.map((payload) => defaultPayloadConverter.fromPayload(payload))).toEqual([
      'settle',
      { rejectedPayload: 'it is not encrypted' },
    ]);
    expect(rejected).toEqual(['lunas_payloads_rejected_total']);
  });
});
