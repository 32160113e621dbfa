import type { Request } from 'express';
import { visit } from 'jsonc-parser';
import { messageOf } from '../errors';
import { ApiError } from './api-error';

const MAX_DEPTH = 16;
const PLAIN_INTEGER = /^(0|-?[1-9][0-9]*)$/;
/** NUL, which PostgreSQL's text cannot contain, and halves of surrogate pairs, which UTF-8 cannot. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** A number that was not written as a plain safe integer: `1e3`, `1.0`, `-0`. No schema accepts it as an integer. */
export class NumberToken {
  constructor(readonly token: string) {}
}

/** The JSON body of a request. @throws ApiError `invalid_json`, also for another content type */
export function readJsonBody(request: Request): unknown {
  if (!request.is('application/json')) {
    throw new ApiError('body_not_json', 'The body must be JSON, sent with Content-Type: application/json.');
  }
  return parseStrictJson(request.body);
}

/**
 * Parses JSON strictly: UTF-8, no duplicate keys, no NUL or lone surrogate, at most 16 levels deep. The token of a
 * number decides whether it is an integer.
 * @throws ApiError `invalid_json`
 */
export function parseStrictJson(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  requireJson(text);
  return buildValue(text);
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw new ApiError('body_not_json', 'The body is not valid UTF-8.');
  }
}

function requireJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    // The message of Node.js quotes the body.
    const message = `The body is not valid JSON: ${messageOf(error)}.`;
    throw new ApiError('body_not_json', message, { internal: 'not JSON' });
  }
}

/** Builds the value from its tokens. `text` is valid JSON, so only our own rules are checked. */
function buildValue(text: string): unknown {
  const containers: (Record<string, unknown> | unknown[])[] = [];
  let key = '';
  let root: unknown;

  function add(value: unknown): void {
    const container = containers.at(-1);
    if (container === undefined) root = value;
    else if (Array.isArray(container)) container.push(value);
    else Object.defineProperty(container, key, { value, enumerable: true, writable: true, configurable: true });
  }

  function open(container: Record<string, unknown> | unknown[]): void {
    if (containers.length === MAX_DEPTH) {
      throw new ApiError('body_not_json', `The body is nested deeper than ${MAX_DEPTH} levels.`);
    }
    add(container);
    containers.push(container);
  }

  visit(text, {
    onObjectBegin: () => open({}),
    onArrayBegin: () => open([]),
    onObjectEnd: () => containers.pop(),
    onArrayEnd: () => containers.pop(),
    onObjectProperty(name: string) {
      requireStorable(name);
      const container = containers.at(-1);
      if (container && Object.hasOwn(container, name)) {
        const message = `The body has the key ${JSON.stringify(name)} twice.`;
        throw new ApiError('body_not_json', message, { internal: 'duplicate key' });
      }
      key = name;
    },
    onLiteralValue(value: unknown, offset: number, length: number) {
      if (typeof value === 'string') requireStorable(value);
      add(typeof value === 'number' ? readNumber(text.slice(offset, offset + length)) : value);
    },
  });
  return root;
}

function readNumber(token: string): number | NumberToken {
  const value = Number(token);
  return PLAIN_INTEGER.test(token) && Number.isSafeInteger(value) ? value : new NumberToken(token);
}

function requireStorable(text: string): void {
  if (UNSTORABLE.test(text)) throw new ApiError('body_not_json', 'The body has a NUL or a lone surrogate in a string.');
}
