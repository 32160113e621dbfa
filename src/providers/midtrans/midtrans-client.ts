import { SpanKind } from '@opentelemetry/api';
import { indeterminate, type Indeterminate, type ProviderCall } from '../../domain/provider-call';
import { readFields } from '../../lib/fields';
import { parseJson } from '../../lib/parse-json';
import { withSpan, type SpanResult } from '../../observability/tracing';
import { ProviderHttp } from '../calls/http';
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

/** The Core API with the key of one Midtrans account. */
export class MidtransClient {
  readonly #http: ProviderHttp;
  readonly #authorization: string;

  constructor({ baseUrl, serverKey }: { baseUrl: string; serverKey: string }) {
    this.#http = new ProviderHttp(baseUrl);
    this.#authorization = `Basic ${Buffer.from(`${serverKey}:`).toString('base64')}`;
  }

  /** One call, which ends before its deadline. All but a Midtrans response is `indeterminate`. */
  call(request: MidtransRequest, call: ProviderCall): Promise<MidtransResponse | Indeterminate> {
    const attributes = { 'http.request.method': request.method };
    const span = [`midtrans ${operationOf(request)}`, { kind: SpanKind.CLIENT, attributes }] as const;
    return withSpan(span, () => this.#call(request, call), describe);
  }

  async #call(request: MidtransRequest, call: ProviderCall): Promise<MidtransResponse | Indeterminate> {
    const { method, path, body, headers } = request;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const authorized = { authorization: this.#authorization, ...headers };
    const response = await this.#http.send({ method, path, headers: authorized, bytes }, call);
    return response.outcome === 'indeterminate' ? response : readResponse(response.httpStatus, response.text);
  }

  close(): Promise<void> {
    return this.#http.close();
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

function readResponse(httpStatus: number, text: string): MidtransResponse | Indeterminate {
  const body = parseJson(text);
  const response = readFields(responseSchema, body);
  if (!response.ok) return indeterminate(`HTTP ${httpStatus} without a Midtrans response: ${response.reason}`);
  const { status_code: statusCode, status_message: message } = response.fields;
  return { outcome: 'responded', statusCode, status: `${statusCode} ${message ?? ''}`.trimEnd(), body };
}
