import { promisify } from 'node:util';
import express, { type Request, type Response } from 'express';
import { withTimeout } from '../lib/with-timeout';
import { ApiError } from './api-error';

/** The limit of a bulk; a single payment has a lower limit (create-payment). */
const MAX_BYTES = 512 * 1_024;
const ARRIVAL_TIMEOUT_MS = 10_000;

/** By limit. */
const PARSERS = new Map<number, (request: Request, response: Response) => Promise<unknown>>();

function parserFor(maxBytes: number) {
  const known = PARSERS.get(maxBytes) ?? promisify(express.raw({ type: () => true, limit: maxBytes }));
  PARSERS.set(maxBytes, known);
  return known;
}

/**
 * Reads the body's bytes, as sent, into `request.body`.
 * @throws ApiError `invalid_json` if the body is not complete after 10 s; the connection is closed then
 */
export async function readBody(request: Request, response: Response, maxBytes = MAX_BYTES): Promise<void> {
  const read = parserFor(maxBytes)(request, response);
  await withTimeout(ARRIVAL_TIMEOUT_MS, read, bodyTooLate).catch((error: unknown) => rejectBody(error, maxBytes));
  request.body ??= Buffer.alloc(0);
}

const MAX_OPTIONAL_BYTES = 16 * 1_024;
const OPTIONAL_ARRIVAL_MS = 1_000;

/** Reads a body that the endpoint does not need. One that is large, late or of unknown length counts as none. */
export async function readOptionalBody(request: Request, response: Response): Promise<void> {
  const bytes = Number(request.get('content-length') ?? 0);
  if (bytes > 0 && bytes <= MAX_OPTIONAL_BYTES) {
    const read = parserFor(MAX_OPTIONAL_BYTES)(request, response);
    await withTimeout(OPTIONAL_ARRIVAL_MS, read, bodyTooLate).catch(() => undefined);
  }
  request.body ??= Buffer.alloc(0);
}

function bodyTooLate(): ApiError {
  return new ApiError('body_too_late', 'The body did not arrive in time.', { headers: { Connection: 'close' } });
}

/** Converts the errors of the body parser to API errors. */
function rejectBody(error: unknown, maxBytes: number): never {
  if (!(error instanceof Error && 'expose' in error && error.expose === true)) throw error;
  const isTooLarge = 'type' in error && error.type === 'entity.too.large';
  const violation = isTooLarge ? `is larger than ${maxBytes / 1_024} kB` : `cannot be read: ${error.message}`;
  throw new ApiError(isTooLarge ? 'body_too_large' : 'body_not_json', `The body ${violation}.`);
}

/** The JSON of a body that need not be any; undefined if it is not. Our own rules of JSON are not checked. */
export function jsonOf({ body }: Request): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}
