import { SpanKind } from '@opentelemetry/api';
import { z } from 'zod';
import { indeterminate, type Indeterminate, type ProviderCall } from '../domain/provider-call';
import { headerText, readFields, seconds } from '../lib/fields';
import { withSpan, type SpanResult } from '../observability/tracing';
import type { SnapCredentials } from './credentials';
import { isTokenRejected, type SnapService } from './outcomes';
import { readResponse, type SnapResponse } from './response';
import { bodyHash, callString, signHmac, signRsa, tokenString } from './signatures';
import { formatTimestamp } from './timestamp';
import { TokenSource, type AccessToken } from './token-source';

/** How the calls of an account are signed. With a client secret, each call also has a token. */
export type SnapSigning =
  | { readonly kind: 'hmac_with_token'; readonly tokenPath: string; readonly clientSecret: string }
  | { readonly kind: 'rsa' };

/** The connection to an acquirer. It sends these bytes and makes no exception. */
export interface SnapHttp {
  send(
    request: { method: 'POST'; path: string; headers: Readonly<Record<string, string>>; bytes: Buffer },
    call: ProviderCall,
  ): Promise<{ outcome: 'responded'; httpStatus: number; text: string } | Indeterminate>;
}

export interface SnapCall {
  readonly service: SnapService;
  /** In full, as it is signed. */
  readonly path: string;
  readonly externalId: string;
  readonly body: object;
}

export interface SnapAccount {
  readonly http: SnapHttp;
  readonly credentials: SnapCredentials;
  readonly signing: SnapSigning;
}

const TOKEN_REQUEST = Buffer.from(JSON.stringify({ grantType: 'client_credentials' }));
const MAX_TOKEN_LENGTH = 4_096;
const DEFAULT_TOKEN_SECONDS = 300;
/** Less than this before the deadline, a repeat could not complete. */
const MIN_REPEAT_MS = 300;

const tokenResponseSchema = z.object({
  accessToken: headerText(MAX_TOKEN_LENGTH),
  // A text in the documents, a number at some acquirers.
  expiresIn: seconds(DEFAULT_TOKEN_SECONDS),
});

/** SNAP BI calls of one account: signed, with a token if the acquirer wants one, and without exceptions. */
export class SnapClient {
  readonly #account: SnapAccount;
  /** Null: calls have no token, and our RSA key signs them. */
  readonly #withToken: { readonly clientSecret: string; readonly tokens: TokenSource } | null;

  constructor(account: SnapAccount) {
    const { signing } = account;
    this.#account = account;
    this.#withToken =
      signing.kind === 'rsa'
        ? null
        : {
            clientSecret: signing.clientSecret,
            tokens: new TokenSource((call) => this.#fetchToken(signing.tokenPath, call)),
          };
  }

  /**
   * One call, which ends before its deadline. All but a SNAP response is `indeterminate`. A call whose token is
   * rejected was not executed: it is repeated with a fresh token, and only one time.
   */
  call(request: SnapCall, call: ProviderCall): Promise<SnapResponse | Indeterminate> {
    const span = [`snap ${request.service}`, { kind: SpanKind.CLIENT }] as const;
    return withSpan(span, () => this.#call(request, call), describe);
  }

  /** Reads a token for the next call, if calls need one. */
  async prepare(call: ProviderCall): Promise<{ readonly outcome: 'ready' } | Indeterminate> {
    const token = await this.#withToken?.tokens.read(call);
    return token && 'outcome' in token ? token : { outcome: 'ready' };
  }

  async #call(request: SnapCall, call: ProviderCall): Promise<SnapResponse | Indeterminate> {
    const bytes = Buffer.from(JSON.stringify(request.body));
    if (this.#withToken === null) {
      const sign = (text: string) => signRsa(this.#account.credentials.privateKey, text);
      return this.#send({ ...request, bytes, token: null, sign }, call);
    }
    const { clientSecret, tokens } = this.#withToken;
    const sign = (text: string) => Promise.resolve(signHmac(clientSecret, text));
    const token = await tokens.read(call);
    if ('outcome' in token) return token;
    const response = await this.#send({ ...request, bytes, token: token.value, sign }, call);
    if (response.outcome === 'indeterminate' || !isTokenRejected(response)) return response;
    const fresh = await tokens.read(call, token.value);
    if ('outcome' in fresh || call.deadlineAtMs - Date.now() < MIN_REPEAT_MS) return response;
    return this.#send({ ...request, bytes, token: fresh.value, sign }, call);
  }

  async #send({ path, externalId, bytes, token, sign }: Message, call: ProviderCall) {
    const timestamp = formatTimestamp(new Date());
    const parts = { method: 'POST', path, token, bodyHash: bodyHash(bytes), timestamp } as const;
    const { partnerId, channelId } = this.#account.credentials;
    const headers = {
      'x-timestamp': timestamp,
      'x-signature': await sign(callString(parts)),
      'x-partner-id': partnerId,
      'x-external-id': externalId,
      'channel-id': channelId,
      ...(token !== null && { authorization: `Bearer ${token}` }),
    };
    return this.#exchange({ method: 'POST', path, headers, bytes }, call);
  }

  async #exchange(request: Parameters<SnapHttp['send']>[0], call: ProviderCall) {
    const response = await this.#account.http.send(request, call);
    return response.outcome === 'indeterminate' ? response : readResponse(response.httpStatus, response.text);
  }

  async #fetchToken(path: string, call: ProviderCall): Promise<AccessToken | Indeterminate> {
    const { credentials } = this.#account;
    const obtainedAtMs = Date.now();
    const timestamp = formatTimestamp(new Date(obtainedAtMs));
    const headers = {
      'x-timestamp': timestamp,
      'x-client-key': credentials.clientId,
      'x-signature': await signRsa(credentials.privateKey, tokenString(credentials.clientId, timestamp)),
    };
    const request = { method: 'POST', path, headers, bytes: TOKEN_REQUEST } as const;
    const response = await this.#exchange(request, call);
    if (response.outcome === 'indeterminate') return response;
    if (response.httpStatus !== 200) return indeterminate(`no token: ${response.status}`);
    const token = readFields(tokenResponseSchema, response.body);
    // Never its value: it may be a token.
    if (!token.ok) return indeterminate('no token: accessToken must have printable characters');
    const { accessToken, expiresIn } = token.fields;
    return { value: accessToken, obtainedAtMs, expiresAtMs: obtainedAtMs + expiresIn * 1000 };
  }
}

interface Message extends Pick<SnapCall, 'path' | 'externalId'> {
  readonly bytes: Buffer;
  readonly token: string | null;
  readonly sign: (text: string) => Promise<string>;
}

function describe(result: SnapResponse | Indeterminate): SpanResult {
  if (result.outcome === 'indeterminate') return { isError: true, attributes: { 'lunas.outcome': result.outcome } };
  const { httpStatus, caseCode } = result;
  return { attributes: { 'snap.http_status': httpStatus, 'snap.case': caseCode } };
}
