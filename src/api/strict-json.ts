import type { Request } from 'express';
import { LosslessNumber, parse } from 'lossless-json';
import { ApiError } from './api-error';

const MAX_DEPTH = 16;
const PLAIN_INTEGER = /^(0|-?[1-9][0-9]*)$/;
/** NUL, which PostgreSQL's text cannot hold, and halves of surrogate pairs, which UTF-8 cannot. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/**
 * Reads a JSON body strictly: UTF-8, no duplicate keys, no NUL or lone surrogate, at most 16 levels deep.
 * Numbers are judged on their token: a plain integer within 2^53 becomes a number, anything else (`1e3`, `1.0`, `-0`)
 * stays a `LosslessNumber`, so that no schema mistakes it for an integer.
 * @throws ApiError `invalid_json`
 */
export function parseStrictJson(bytes: Buffer): unknown {
  const value = parseTokens(decodeUtf8(bytes));
  requireShallow(value, 1);
  return value;
}

/** The JSON body of a request; any other content type is refused. */
export function readJsonBody(request: Request): unknown {
  if (!request.is('application/json')) {
    throw new ApiError('invalid_json', 'The body must be JSON, sent with Content-Type: application/json.');
  }
  return parseStrictJson(request.body);
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError('invalid_json', 'The body is not valid UTF-8.');
  }
}

function parseTokens(text: string): unknown {
  try {
    return parse(text, refuseUnstorable, { parseNumber, onDuplicateKey: refuseDuplicate });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const reason = error instanceof SyntaxError ? ` ${error.message}.` : '';
    throw new ApiError('invalid_json', `The body is not valid JSON.${reason}`);
  }
}

function parseNumber(token: string): number | LosslessNumber {
  const value = Number(token);
  return PLAIN_INTEGER.test(token) && Number.isSafeInteger(value) ? value : new LosslessNumber(token);
}

function refuseDuplicate({ key }: { key: string }): never {
  throw new ApiError('invalid_json', `The body has the key ${JSON.stringify(key)} twice.`);
}

function refuseUnstorable(key: string, value: unknown): unknown {
  const text = typeof value === 'string' ? key + value : key;
  if (UNSTORABLE.test(text)) throw new ApiError('invalid_json', 'The body has a NUL or a lone surrogate in a string.');
  return value;
}

function requireShallow(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return;
  if (depth > MAX_DEPTH) throw new ApiError('invalid_json', `The body is nested deeper than ${MAX_DEPTH} levels.`);
  for (const child of Object.values(value)) requireShallow(child, depth + 1);
}
