import { SpanKind } from '@opentelemetry/api';
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import { abortAfter } from '../../lib/abort-after';
import { traceHeaders } from '../../observability/correlation';
import { messageOf } from '../../errors';
import { parseJson } from '../../lib/parse-json';
import { withSpan, type SpanResult } from '../../observability/tracing';
import type { ProviderCall, Indeterminate } from '../provider';
import { responseSchema } from './schemas';

/** A response of Midtrans: its code, its message, and the whole body, not validated yet. */
export interface MidtransResponse {
  readonly outcome: 'responded';
  readonly statusCode: string;
  /** Code and message, short enough for a log line. */
  readonly status: string;
  readonly body: unknown;
}

export interface MidtransRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_STATUS_MESSAGE_LENGTH = 200;
const MAX_CONNECTIONS = 128;
const TOO_LATE = 'the deadline passed before the request was sent';

/** HTTP to one Midtrans account: persistent connections, no redirects, a bounded response, and no exceptions. */
export class MidtransClient {
  readonly #pool: Pool;
  readonly #pathPrefix: string;
  readonly #authorization: string;

  constructor({ baseUrl, serverKey }: { baseUrl: string; serverKey: string }) {
    const url = new URL(baseUrl);
    // Each call has its own deadline, so undici's timeouts are off.
    this.#pool = new Pool(url.origin, { connections: MAX_CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
    this.#pathPrefix = url.pathname.replace(/\/+$/, '');
    this.#authorization = `Basic ${Buffer.from(`${serverKey}:`).toString('base64')}`;
  }

  /**
   * One call, which ends before its deadline. All but a Midtrans response is `indeterminate`, also a refused
   * connection: a request that was never sent cannot be distinguished from a lost one reliably enough to charge a
   * second time.
   */
  call(request: MidtransRequest, call: ProviderCall): Promise<MidtransResponse | Indeterminate> {
    const attributes = { 'http.request.method': request.method };
    const span = [`midtrans ${operationOf(request)}`, { kind: SpanKind.CLIENT, attributes }] as const;
    return withSpan(span, () => this.#call(request, call), describe);
  }

  async #call(request: MidtransRequest, call: ProviderCall): Promise<MidtransResponse | Indeterminate> {
    const leftMs = Math.floor(call.deadlineAtMs - Date.now());
    if (leftMs <= 0) return indeterminate(TOO_LATE);
    try {
      return await abortAfter(leftMs, call.signal, (signal) => this.#send(request, call, signal));
    } catch (error) {
      const isAborted = call.signal.aborted || error instanceof DOMException;
      return indeterminate(isAborted ? `no response after ${leftMs} ms` : messageOf(error));
    }
  }

  async #send(
    { method, path, body, headers }: MidtransRequest,
    call: ProviderCall,
    signal: AbortSignal,
  ): Promise<MidtransResponse | Indeterminate> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const response = await this.#pool.request({
      method,
      path: this.#pathPrefix + path,
      headers: {
        accept: 'application/json',
        authorization: this.#authorization,
        ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
        ...headers,
        ...traceHeaders(),
      },
      body: bytes ? Readable.from(bytesBeforeDeadline(bytes, call)) : null,
      signal,
    });
    return readResponse(response.statusCode, await readBounded(response.body));
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** `charge`, `status`, `refund` …: the last segment of the path. */
function operationOf({ path }: MidtransRequest): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function describe(result: MidtransResponse | Indeterminate): SpanResult {
  if (result.outcome === 'indeterminate') return { isError: true, attributes: { 'lunas.outcome': result.outcome } };
  return { attributes: { 'lunas.outcome': result.outcome, 'midtrans.status_code': result.statusCode } };
}

/**
 * A body that checks the clock when the connection reads it, which also sends the headers. A process may have been
 * suspended since the start of the call, and its writes precede its timers.
 */
async function* bytesBeforeDeadline(bytes: Buffer, { deadlineAtMs }: ProviderCall): AsyncGenerator<Buffer> {
  if (Date.now() >= deadlineAtMs) throw new Error(TOO_LATE);
  yield bytes;
}

function readResponse(httpStatus: number, text: string): MidtransResponse | Indeterminate {
  const body = parseJson(text);
  const response = responseSchema.safeParse(body);
  if (!response.success) return indeterminate(`HTTP ${httpStatus} without a Midtrans response`);
  const { status_code: statusCode, status_message: message } = response.data;
  return {
    outcome: 'responded',
    statusCode,
    status: `${statusCode} ${message}`.slice(0, MAX_STATUS_MESSAGE_LENGTH),
    body,
  };
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (length > MAX_RESPONSE_BYTES) throw new Error(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function indeterminate(reason: string): Indeterminate {
  return { outcome: 'indeterminate', reason };
}
