import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Payload } from '@temporalio/common';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import type { OperatorScope } from '../domain/key-access';
import { messageOf } from '../errors';
import type { Logger } from '../observability/logger';
import { EncryptingCodec, isEncrypted, rejectedPayload, workflowIdOf, type PayloadKeys } from './payload-codec';

/** Who decrypts, by an operator key. */
export interface CodecOperator {
  readonly id: string;
  readonly name: string;
  /** Null: the key has no scopes. */
  readonly scopes: readonly OperatorScope[] | null;
}

/** What an operator has decrypted. */
export interface Decryption {
  readonly operator: CodecOperator;
  /** The workflows of the authentic payloads, without repetitions. */
  readonly workflowIds: readonly string[];
  readonly payloads: number;
}

export interface CodecServerSettings {
  readonly port: number;
  readonly keys: PayloadKeys;
  /** The payloads of other namespaces are not decrypted. */
  readonly namespace: string;
  /** The origins of the Web UI: pages of other origins get no response. */
  readonly origins: readonly string[];
  /** The operator with this secret key, or undefined. Null: no key is needed (sandbox). */
  readonly findOperator: ((secretKey: string) => Promise<CodecOperator | undefined>) | null;
  /** Writes the audit log. If it rejects, the caller gets no payload. */
  readonly record: (decryption: Decryption) => Promise<void>;
  readonly log: Logger;
}

const LOOPBACK = '127.0.0.1';
const MAX_BODY = '8mb';

/** A request with payloads in Temporal's JSON format: bytes are base64. */
const requestSchema = z.object({
  // The Temporal CLI omits an empty list.
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), z.base64()).default({}), data: z.base64().nullish() }).readonly())
    .default([]),
});
type JsonPayload = z.infer<typeof requestSchema>['payloads'][number];

/**
 * The codec server of Temporal's Web UI and CLI, on loopback: `POST /decode` decrypts payloads for operators. There is
 * no `/encode`, so that no message to a workflow can be made in the Web UI. It receives the namespace in a header and
 * no workflow id: the id that is in each payload is authenticated with the payload.
 */
export async function startCodecServer(
  settings: CodecServerSettings,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(createCodecApp(settings)).listen(settings.port, LOOPBACK);
  await once(server, 'listening');
  return {
    url: `http://${LOOPBACK}:${settings.port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function createCodecApp(settings: CodecServerSettings): Express {
  const codec = new EncryptingCodec(settings.keys, settings.namespace);
  return express()
    .disable('x-powered-by')
    .use(allowOrigins(settings.origins))
    .use(async (request, response, next) => {
      const operator = await operatorOf(request, settings);
      if (operator === undefined) return requireKey(response);
      // Null: the sandbox knows no operator.
      response.locals.operator = operator;
      next();
    })
    .get('/', (_, response) => {
      response.type('text').send('This browser can decrypt payloads: return to the Temporal Web UI.\n');
    })
    .post('/decode', express.json({ limit: MAX_BODY, type: () => true }), async (request, response) => {
      // The Temporal CLI sends an empty namespace.
      const namespace = request.get('x-namespace') || settings.namespace;
      if (namespace !== settings.namespace) return reject(response, 400, `This server decrypts ${settings.namespace}.`);
      const body = requestSchema.safeParse(request.body);
      if (!body.success) return reject(response, 400, z.prettifyError(body.error));
      const decoded = await Promise.all(body.data.payloads.map((payload) => decode(codec, payload)));
      const workflowIds = [...new Set(decoded.flatMap(({ workflowId }) => workflowId ?? []))];
      const operator: CodecOperator | null = response.locals.operator;
      const payloads = decoded.filter(({ workflowId }) => workflowId !== undefined).length;
      if (operator !== null && payloads > 0 && !(await isRecorded(settings, { operator, workflowIds, payloads }))) {
        return reject(response, 503, 'The audit log is not available, and nothing is decrypted without it.');
      }
      settings.log.info({ operator: operator?.name ?? 'sandbox', workflowIds, payloads }, 'payloads decrypted');
      response.set('Cache-Control', 'no-store').json({ payloads: decoded.map(({ payload }) => payload) });
    })
    .use((_: Request, response: Response) => reject(response, 404, 'There is no such address.'))
    .use((error: unknown, _: Request, response: Response, next: NextFunction) => {
      if (response.headersSent) return next(error);
      settings.log.warn({ err: error }, 'request failed');
      reject(response, 400, 'The request cannot be read.');
    });
}

async function isRecorded({ record, log }: CodecServerSettings, decryption: Decryption): Promise<boolean> {
  try {
    await record(decryption);
    return true;
  } catch (error) {
    log.error({ err: error, operator: decryption.operator.name }, 'decryption not recorded');
    return false;
  }
}

/** Browsers name the origin of a page in each POST, and ask before they send one to another origin. */
function allowOrigins(origins: readonly string[]) {
  return (request: Request, response: Response, next: NextFunction) => {
    const origin = request.get('origin');
    if (origin === undefined) return next();
    if (!origins.includes(origin)) return reject(response, 403, `Pages of ${origin} have no access: TEMPORAL_UI_URL.`);
    response.set({
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Allow-Headers': request.get('access-control-request-headers') ?? '',
      'Access-Control-Allow-Private-Network': 'true',
      Vary: 'Origin',
    });
    if (request.method !== 'OPTIONS') return next();
    response.status(204).end();
  };
}

/** Undefined if the request has no valid key. The Temporal CLI sends a bearer token, a browser a password. */
async function operatorOf(
  request: Request,
  { findOperator }: CodecServerSettings,
): Promise<CodecOperator | null | undefined> {
  if (findOperator === null) return null;
  const [, scheme = '', credentials = ''] = /^(Bearer|Basic) +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return findOperator(credentials);
  return findOperator(
    Buffer.from(credentials, 'base64')
      .toString()
      .replace(/^[^:]*:/, ''),
  );
}

function requireKey(response: Response): void {
  response.set('WWW-Authenticate', 'Basic realm="operator key as the password", charset="UTF-8"');
  reject(response, 401, 'Send the secret key of an operator.');
}

function reject(response: Response, status: number, message: string): void {
  response.status(status).json({ message });
}

interface DecodedPayload {
  readonly payload: JsonPayload;
  /** The workflow of a payload that was decrypted: it is authenticated with the payload. */
  readonly workflowId?: string;
}

/** What core and Temporal write themselves is not encrypted, and returned as it is. */
async function decode(codec: EncryptingCodec, json: JsonPayload): Promise<DecodedPayload> {
  const payload = fromJson(json);
  if (!isEncrypted(payload)) return { payload: json };
  try {
    const [decoded = payload] = await codec.decode([payload]);
    return { payload: toJson(decoded), workflowId: workflowIdOf(payload) };
  } catch (error) {
    return { payload: toJson(rejectedPayload(messageOf(error))) };
  }
}

function fromJson({ metadata, data }: JsonPayload): Payload {
  const entries = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')] as const);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data ?? '', 'base64') };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64Of(value)] as const);
  return { metadata: Object.fromEntries(entries), data: base64Of(data ?? Buffer.alloc(0)) };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
