import { failure, success, type QrisResult } from './result';

/** One tag-length-value object. `tag` has two digits, `value` at most 99 characters. */
export interface TlvObject {
  readonly tag: string;
  readonly value: string;
}

export interface PositionedTlvObject extends TlvObject {
  /** The positions of its tag and its value, in characters from the start of the payload. */
  readonly position: number;
  readonly valuePosition: number;
}

const TWO_DIGITS = /^\d\d$/;
const HEADER_LENGTH = 4;
const MAX_VALUE_LENGTH = 99;

/**
 * Parses `characters` into objects. Lengths count them: code points, or bytes as characters of Latin-1.
 * Length 00 is accepted although EMVCo starts at 01: acquirers write it for empty optional fields.
 */
export function parseTlv(characters: readonly string[], offset: number): QrisResult<PositionedTlvObject[]> {
  const objects: PositionedTlvObject[] = [];
  const seen = new Set<string>();
  let index = 0;
  while (index < characters.length) {
    const position = offset + index;
    const tag = characters.slice(index, index + 2).join('');
    if (!TWO_DIGITS.test(tag)) return failure('tag_invalid', `A tag of two digits is expected here.`, { position });
    const location = { tag, position };
    if (seen.has(tag)) return failure('tag_repeated', `Tag ${tag} is repeated.`, location);
    seen.add(tag);
    const digits = characters.slice(index + 2, index + HEADER_LENGTH).join('');
    if (!TWO_DIGITS.test(digits)) {
      return failure('length_invalid', `Tag ${tag} has no length of two digits.`, { tag, position: position + 2 });
    }
    const start = index + HEADER_LENGTH;
    const end = start + Number(digits);
    if (end > characters.length) {
      const remaining = characters.length - start;
      const message = `Tag ${tag} has a length of ${Number(digits)}, but ${remaining} characters remain.`;
      return failure('truncated', message, location);
    }
    objects.push({ tag, value: characters.slice(start, end).join(''), position, valuePosition: offset + start });
    index = end;
  }
  return success(objects);
}

/** The characters that lengths count: Unicode code points. */
export function codePoints(text: string): string[] {
  return Array.from(text);
}

/** A lone surrogate is half of a UTF-16 pair. It has no UTF-8 encoding and therefore no CRC. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** The inverse of `parseTlv`. */
export function serializeTlv(objects: readonly TlvObject[]): QrisResult<string> {
  const seen = new Set<string>();
  let text = '';
  for (const { tag, value } of objects) {
    if (!TWO_DIGITS.test(tag)) return failure('tag_invalid', `A tag must have two digits.`);
    if (seen.has(tag)) return failure('tag_repeated', `Tag ${tag} is repeated.`, { tag });
    seen.add(tag);
    if (hasLoneSurrogate(value)) return failure('not_unicode', `Tag ${tag} contains half a character.`, { tag });
    const length = codePoints(value).length;
    if (length > MAX_VALUE_LENGTH) {
      const message = `Tag ${tag} has ${length} characters; the maximum is ${MAX_VALUE_LENGTH}.`;
      return failure('length_invalid', message, { tag });
    }
    text += `${tag}${String(length).padStart(2, '0')}${value}`;
  }
  return success(text);
}
