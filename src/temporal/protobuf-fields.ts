/**
 * Fields in the encoding of Protocol Buffers (https://protobuf.dev/programming-guides/encoding), for messages that
 * Temporal's SDK has no types of.
 */

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const NO_BYTES = Buffer.alloc(0);

export function numberField(id: number, value: number): Buffer {
  return Buffer.from([id * 8 + VARINT, ...varintOf(value)]);
}

/** A text or a message. */
export function bytesField(id: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([id * 8 + LENGTH_DELIMITED, ...varintOf(bytes.length)]), bytes]);
}

interface Field {
  readonly id: number;
  /** Of a text or a message; no bytes for numbers. */
  readonly value: Buffer;
}

export function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = readVarint();
    const type = tag % 8;
    if (type === VARINT) readVarint();
    const length = type === LENGTH_DELIMITED ? readVarint() : type === VARINT ? 0 : type === FIXED_64 ? 8 : 4;
    at += length;
    const value = type === LENGTH_DELIMITED ? message.subarray(at - length, at) : NO_BYTES;
    fields.push({ id: Math.floor(tag / 8), value });
  }
  return fields;
}

function varintOf(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varintOf(Math.floor(value / 128))];
}
