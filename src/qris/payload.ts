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

/** EMVCo: merchant accounts 26–51, additional data 62, other language 64, unreserved templates 80–99. */
function isTemplateTag(tag: string): boolean {
  const number = Number(tag);
  return (number >= 26 && number <= 51) || number === 62 || number === 64 || number >= 80;
}

/**
 * Parses EMVCo TLV text: well-formed objects, no tag twice on one level, tag 00 = `01`, a valid CRC at the end.
 * Tags may have any order. Unknown tags are preserved, so that `serializePayload` returns the same text.
 */
export function parsePayload(text: string): QrisResult<EmvPayload> {
  // A character has at most two UTF-16 units: a longer text exceeds the limit.
  if (text.length > 2 * MAX_PAYLOAD_LENGTH) return tooLong();
  if (hasLoneSurrogate(text)) return failure('not_unicode', 'The payload contains half a character.');
  const characters = codePoints(text);
  if (characters.length > MAX_PAYLOAD_LENGTH) return tooLong();

  const parsed = parseTlv(characters, 0);
  if (!parsed.ok) return parsed;
  const objects = parsed.value;
  const last = objects.at(-1);
  if (last?.tag !== CRC_TAG || characters.length - last.position !== CRC_LENGTH) {
    return failure('crc_missing', 'The payload must end with tag 63, the CRC of four digits.', { tag: CRC_TAG });
  }
  const expected = crc16(characters.slice(0, last.valuePosition).join(''));
  if (last.value !== expected) {
    const message = `The CRC of the payload is not ${expected}: the payload was changed or misread.`;
    return failure('crc_mismatch', message, { tag: CRC_TAG, position: last.valuePosition });
  }
  return readObjects(objects.slice(0, -1));
}

function readObjects(objects: readonly PositionedTlvObject[]): QrisResult<EmvPayload> {
  const payload: (TlvObject | TlvTemplate)[] = [];
  for (const { tag, value, valuePosition } of objects) {
    if (isTemplateTag(tag)) {
      const template = parseTlv(codePoints(value), valuePosition);
      if (!template.ok) return { ok: false, error: { ...template.error, tag: `${tag}-${template.error.tag ?? '?'}` } };
      payload.push({ tag, objects: template.value.map((object) => ({ tag: object.tag, value: object.value })) });
    } else {
      payload.push({ tag, value });
    }
  }
  if (valueOf(payload, '00') !== '01') {
    return failure('tag_missing', 'Tag 00 must be 01, the format of an EMVCo payload.', { tag: '00' });
  }
  return success(payload);
}

/** Serializes the objects in their order and adds the CRC. `parsePayload` is the inverse. */
export function serializePayload(payload: EmvPayload): QrisResult<string> {
  const objects: TlvObject[] = [];
  for (const object of payload) {
    if (object.tag === CRC_TAG)
      return failure('tag_invalid', 'Tag 63 is computed; the payload must not contain it.', { tag: CRC_TAG });
    const kind = isTemplateTag(object.tag) ? 'template' : 'text';
    if ((kind === 'template') !== 'objects' in object)
      return failure('value_invalid', `Tag ${object.tag} must be a ${kind}.`, { tag: object.tag });
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
