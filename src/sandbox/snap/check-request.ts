import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { SNAP_PROFILES, type SnapMerchant, type SnapMerchants, type SnapProfileName } from './merchants';
import { isSignedByKey, isSignedBySecret, textToSign, type BodyForm } from './signatures';
import type { FacadeResponse, ServiceName } from './snap-response';

/** A request as it arrived. */
export interface SnapRequest {
  readonly profile: SnapProfileName;
  readonly service: ServiceName;
  /** What follows the mount. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
}

/** A request that passed all checks. */
export interface CheckedRequest {
  readonly merchant: SnapMerchant;
  readonly body: unknown;
}

/** A check that failed, with the response to it. */
export class FailedCheck extends Error {
  constructor(readonly response: FacadeResponse) {
    super(response.case);
  }
}

export function failedCheck(pair: FacadeResponse['case'], detail?: string): FailedCheck {
  return new FailedCheck({ case: pair, ...(detail !== undefined && { detail }) });
}

/** Strict on purpose. The tolerance of the acquirers is not documented. */
const TOLERANCE_MS = 5 * 60 * 1000;
const WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const EXTERNAL_ID = /^\d{1,36}$/;
const CHANNEL_ID = /^\d{5}$/;
const grant = z.literal('client_credentials');
/** The documents of Midtrans and its client differ in the name. */
const grantSchema = z.union([z.object({ grantType: grant }), z.object({ grant_type: grant })]);

/**
 * The checks of a call, in the order of an acquirer.
 * @throws FailedCheck at the first that fails
 */
export async function checkRequest(merchants: SnapMerchants, request: SnapRequest): Promise<CheckedRequest> {
  requireJson(request);
  const [timestamp, signature] = [headerOf(request, 'x-timestamp'), headerOf(request, 'x-signature')];
  const [partnerId, channelId] = [headerOf(request, 'x-partner-id'), headerOf(request, 'channel-id')];
  const externalId = headerOf(request, 'x-external-id');
  checkTimestamp(timestamp);
  const { merchant, token } = await authenticate(merchants, request, partnerId);
  const signedForm = findSignedForm(merchant, request, { timestamp, signature, token });
  if (signedForm === undefined) throw failedCheck('401 00');
  if (partnerId !== merchant.partnerId) throw failedCheck('401 00', 'X-PARTNER-ID');
  if (!CHANNEL_ID.test(channelId)) throw failedCheck('400 01', 'CHANNEL-ID');
  if (!EXTERNAL_ID.test(externalId)) throw failedCheck('400 01', 'X-EXTERNAL-ID');
  const isNew = await merchants.recordCall(merchant, { externalId, service: request.service, signedForm });
  if (!isNew) throw failedCheck('409 00');
  return { merchant, body: parseBody(request) };
}

/**
 * The checks of a request for a token.
 * @throws FailedCheck at the first that fails
 */
export async function checkTokenRequest(merchants: SnapMerchants, request: SnapRequest): Promise<SnapMerchant> {
  requireJson(request);
  const [timestamp, signature] = [headerOf(request, 'x-timestamp'), headerOf(request, 'x-signature')];
  const clientId = headerOf(request, 'x-client-key');
  checkTimestamp(timestamp);
  const merchant = await merchants.findByClientId(clientId);
  if (merchant?.profile !== request.profile) throw failedCheck('401 00');
  if (!isSignedByKey(merchant.publicKeyPem, `${clientId}|${timestamp}`, signature)) throw failedCheck('401 00');
  if (!grantSchema.safeParse(parseBody(request)).success) throw failedCheck('400 02', 'grantType');
  return merchant;
}

function requireJson({ headers }: SnapRequest): void {
  if (!/^application\/json\b/.test(headers['content-type'] ?? '')) throw failedCheck('400 01', 'Content-Type');
}

function headerOf({ headers }: SnapRequest, name: string): string {
  const value = headers[name];
  if (typeof value !== 'string' || value === '') throw failedCheck('400 02', name.toUpperCase());
  return value;
}

function checkTimestamp(text: string): void {
  const timestampMs = WITH_ZONE.test(text) ? Date.parse(text) : Number.NaN;
  const isNear = Math.abs(Date.now() - timestampMs) <= TOLERANCE_MS;
  if (!isNear) throw failedCheck('400 01', 'X-TIMESTAMP');
}

/** By token, or without tokens by the partner id. */
async function authenticate(
  merchants: SnapMerchants,
  { profile, headers }: SnapRequest,
  partnerId: string,
): Promise<{ merchant: SnapMerchant; token: string }> {
  if (SNAP_PROFILES[profile].calls === 'rsa') {
    const merchant = await merchants.findByPartnerId(partnerId);
    if (merchant?.profile !== profile) throw failedCheck('401 00');
    return { merchant, token: '' };
  }
  const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) throw failedCheck('400 02', 'AUTHORIZATION');
  const found = await merchants.findToken(token);
  if (found?.merchant.profile !== profile) throw failedCheck('401 03');
  if (found.isExpired) throw failedCheck('401 01');
  return { merchant: found.merchant, token };
}

function findSignedForm(
  merchant: SnapMerchant,
  { path, rawBody }: SnapRequest,
  { timestamp, signature, token }: Readonly<Record<'timestamp' | 'signature' | 'token', string>>,
): BodyForm | undefined {
  const forms: readonly BodyForm[] = ['raw', 'compact'];
  return forms.find((form) => {
    const text = textToSign({ path, token, timestamp, rawBody }, form);
    return SNAP_PROFILES[merchant.profile].calls === 'rsa'
      ? isSignedByKey(merchant.publicKeyPem, text, signature)
      : isSignedBySecret(merchant.clientSecret, text, signature);
  });
}

function parseBody({ rawBody }: SnapRequest): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody));
  } catch {
    throw failedCheck('400 01', 'body');
  }
}
