import { crc16 } from './crc';
import { failure, success, type QrisResult } from './result';
import { codePoints, hasLoneSurrogate, parseTlv, serializeTlv, type PositionedTlvObject, type TlvObject } from './tlv';

/** An object whose value is a list of objects. EMVCo has two levels. */
export interface TlvTemplate {
  readonly tag: string;
  readonly objects: readonly TlvObject[];
}

/** An EMVCo merchant-presented payload: its objects in order, without tag 63, which is computed. */
export type EmvPayload = readonly (TlvObject | TlvTemplate)[];

/** EMVCo's limit, in characters. */
export const MAX_PAYLOAD_LENGTH = 512;
const CRC_TAG = '63';
const CRC_HEADER = '6304';
const CRC_LENGTH = 8;

/** From the units that lengths count to text. */
type Decode = (value: string) => string;

/**
 * How the value of a tag is read. EMVCo: merchant accounts 26–51, additional data 62, other language 64, unreserved
 * templates 80–99. Payment networks also write plain text into accounts and unreserved tags, which no rule needs.
 */
function formOf(tag: string): 'template' | 'template or text' | 'text' {
  const number = Number(tag);
  if (number === 62 || number === 64) return 'template';
  return isAccountTag(number) || number >= 80 ? 'template or text' : 'text';
}

function isAccountTag(number: number): boolean {
  return number >= 26 && number <= 51;
}

/**
 * Parses EMVCo TLV text: well-formed objects, no tag twice on one level, tag 00 = `01`, a valid CRC at the end, in
 * either case. White space around the text is ignored. Tags may have any order. Unknown tags are preserved, so that
 * `serializePayload` returns the same text.
 * EMVCo's lengths count characters. Some acquirers count the bytes of UTF-8: such a text is parsed too, if its CRC is
 * valid. Of two errors, the one is returned whose reading came further.
 */
export function parsePayload(received: string): QrisResult<EmvPayload> {
  const text = received.trim();
  // A character has at most two UTF-16 units: a longer text exceeds the limit.
  if (text.length > 2 * MAX_PAYLOAD_LENGTH) return tooLong();
  if (hasLoneSurrogate(text)) return failure('not_unicode', 'The payload contains half a character.');
  const characters = codePoints(text);
  if (characters.length > MAX_PAYLOAD_LENGTH) return tooLong();

  const byCharacters = readUnits(text, characters, (value) => value);
  if (byCharacters.ok || characters.length === Buffer.byteLength(text)) return byCharacters;
  const byBytes = readBytes(text);
  if (byBytes.ok) return byBytes;
  return (byBytes.error.position ?? 0) > (byCharacters.error.position ?? 0) ? byBytes : byCharacters;
}

/** Reads lengths as bytes: each byte is a character of Latin-1 until its value is decoded. */
function readBytes(text: string): QrisResult<EmvPayload> {
  const units = codePoints(Buffer.from(text, 'utf8').toString('latin1'));
  const payload = readUnits(text, units, (value) => Buffer.from(value, 'latin1').toString('utf8'));
  // The decoder replaces a part of a character.
  return payload.ok && JSON.stringify(payload.value).includes('\uFFFD')
    ? failure('length_invalid', 'A length ends within a character.')
    : payload;
}

/** @param units what the lengths of `text` count: its characters, or its bytes as Latin-1 */
function readUnits(text: string, units: readonly string[], decode: Decode): QrisResult<EmvPayload> {
  const parsed = parseTlv(units, 0);
  if (!parsed.ok) return parsed;
  const objects = parsed.value;
  const last = objects.at(-1);
  if (last?.tag !== CRC_TAG || units.length - last.position !== CRC_LENGTH) {
    return failure('crc_missing', 'The payload must end with tag 63, the CRC of four digits.', { tag: CRC_TAG });
  }
  const expected = crc16(text.slice(0, -last.value.length));
  if (last.value.toUpperCase() !== expected) {
    const message = `The CRC of the payload is not ${expected}: the payload was changed or misread.`;
    return failure('crc_mismatch', message, { tag: CRC_TAG, position: last.valuePosition });
  }
  return readObjects(objects.slice(0, -1), decode);
}

function readObjects(objects: readonly PositionedTlvObject[], decode: Decode): QrisResult<EmvPayload> {
  const payload: (TlvObject | TlvTemplate)[] = [];
  for (const object of objects) {
    const read = readObject(object, decode);
    if (!read.ok) return read;
    payload.push(read.value);
  }
  if (valueOf(payload, '00') !== '01') {
    return failure('tag_missing', 'Tag 00 must be 01, the format of an EMVCo payload.', { tag: '00' });
  }
  return success(payload);
}

/** A repeated subtag is an error in every template: another reader may take the other value. */
function readObject(object: PositionedTlvObject, decode: Decode): QrisResult<TlvObject | TlvTemplate> {
  const { tag, value, valuePosition } = object;
  const form = formOf(tag);
  const text = { tag, value: decode(value) };
  if (form === 'text') return success(text);
  const template = parseTlv(codePoints(value), valuePosition);
  if (template.ok) {
    const objects = template.value.map((inner) => ({ tag: inner.tag, value: decode(inner.value) }));
    return success(isAccountTag(Number(tag)) && !hasTag(objects, '00') ? text : { tag, objects });
  }
  if (form === 'template or text' && template.error.code !== 'tag_repeated') return success(text);
  return { ok: false, error: { ...template.error, tag: `${tag}-${template.error.tag ?? '?'}` } };
}

function hasTag(objects: readonly TlvObject[], tag: string): boolean {
  return objects.some((object) => object.tag === tag);
}

/** Serializes the objects in their order and adds the CRC. `parsePayload` is the inverse. */
export function serializePayload(payload: EmvPayload): QrisResult<string> {
  const objects: TlvObject[] = [];
  for (const object of payload) {
    if (object.tag === CRC_TAG)
      return failure('tag_invalid', 'Tag 63 is computed; the payload must not contain it.', { tag: CRC_TAG });
    const form = formOf(object.tag);
    if (form !== 'template or text' && (form === 'template') !== 'objects' in object)
      return failure('value_invalid', `Tag ${object.tag} must be a ${form}.`, { tag: object.tag });
    if ('objects' in object) {
      const template = serializeTlv(object.objects);
      if (!template.ok)
        return { ok: false, error: { ...template.error, tag: `${object.tag}-${template.error.tag ?? '?'}` } };
      objects.push({ tag: object.tag, value: template.value });
    } else {
      objects.push(object);
    }
  }
  if (valueOf(payload, '00') !== '01') {
    return failure('tag_missing', 'Tag 00 must be 01, the format of an EMVCo payload.', { tag: '00' });
  }
  const serialized = serializeTlv(objects);
  if (!serialized.ok) return serialized;
  const covered = serialized.value + CRC_HEADER;
  const text = covered + crc16(covered);
  return codePoints(text).length > MAX_PAYLOAD_LENGTH ? tooLong() : success(text);
}

/** The text of a top-level tag; undefined if it is absent or a template. */
export function valueOf(payload: EmvPayload, tag: string): string | undefined {
  const found = payload.find((object) => object.tag === tag);
  return found && 'value' in found ? found.value : undefined;
}

/** The texts in a template, by subtag; undefined if the template is absent. */
export function templateOf(payload: EmvPayload, tag: string): ReadonlyMap<string, string> | undefined {
  const found = payload.find((object) => object.tag === tag);
  return found && 'objects' in found ? new Map(found.objects.map(({ tag, value }) => [tag, value])) : undefined;
}

function tooLong() {
  return failure('too_long', `The payload is longer than ${MAX_PAYLOAD_LENGTH} characters.`, {
    position: MAX_PAYLOAD_LENGTH,
  });
}
