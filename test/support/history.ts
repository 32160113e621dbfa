import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/package-info';
import { expectNamedTimeline } from './timeline';

export const HISTORIES_DIRECTORY = path.join(__dirname, '..', 'histories');

/**
 * Checks the names in the timeline of a completed workflow. With `RECORD_HISTORIES=1` it also records the history as a
 * fixture for `replay.test.ts`.
 * Recorded histories do not change: later versions of the workflow must replay them. A new version adds a file.
 */
export async function recordHistory(client: Client, workflowId: string, name: string): Promise<void> {
  await expectNamedTimeline(client, workflowId);
  if (process.env.RECORD_HISTORIES !== '1') return;
  const file = path.join(HISTORIES_DIRECTORY, `${name}.json`);
  if (existsSync(file)) return;
  await mkdir(HISTORIES_DIRECTORY, { recursive: true });
  const text = JSON.stringify(await fetchDecodedHistory(client, workflowId), null, 2)
    .replaceAll(PACKAGE_ROOT, '')
    .replaceAll(/"identity": ".*?"/g, '"identity": "recorder"');
  await writeFile(file, `${text}\n`);
}

/** The history of the newest run with its payloads decrypted. In its JSON they are base64. */
export async function fetchDecodedHistory(client: Client, workflowId: string): Promise<unknown> {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const { payloadCodecs } = client.options.loadedDataConverter;
  return decodePayloads(JSON.parse(historyToJSON(history)), payloadCodecs);
}

const payloadSchema = z.object({ metadata: z.record(z.string(), z.string()), data: z.string().default('') }).strict();

/** A history replay has no codec, so the payloads of a fixture are in clear. */
async function decodePayloads(value: unknown, codecs: readonly PayloadCodec[]): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => decodePayloads(item, codecs)));
  const payload = payloadSchema.safeParse(value).data;
  if (payload && payload.metadata['encoding'] === Buffer.from('binary/encrypted').toString('base64')) {
    const metadata = mapValues(payload.metadata, (text) => Buffer.from(text, 'base64'));
    let decoded: Payload[] = [{ metadata, data: Buffer.from(payload.data, 'base64') }];
    for (const codec of codecs) decoded = await codec.decode(decoded);
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
    return {
      metadata: mapValues(decoded[0]?.metadata ?? {}, base64),
      data: base64(decoded[0]?.data ?? Buffer.alloc(0)),
    };
  }
  const entries = Object.entries(value).map(async ([key, item]) => [key, await decodePayloads(item, codecs)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

function mapValues<From, To>(table: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value)]));
}
