import type { KeyObject } from 'node:crypto';
import { stringify, parse, v5 as uuidv5 } from 'uuid';
import { decrypt, encrypt, OVERHEAD_BYTES } from '../../crypto/aead';
import type { DerivedKeys } from '../../crypto/derived-keys';
import type { StreamCursor } from '../../db/queries/find-webhook-stream';

const LABEL = 'lunas stream cursors';
/** Transaction number, time, payment, version: of one length, which discloses nothing. */
const PLACE_BYTES = { xid: 0, atMs: 8, paymentId: 16, version: 32, end: 36 } as const;

/** Random, fixed for ever: receivers recognise a repeated event by the id that is derived with it. */
const NAMESPACE = '5b0b6f4e-60f2-4c5e-9a43-2b6a1f2f7c11';

/**
 * Cursors as texts for one merchant. A place in the stream is an event of any merchant, so it is encrypted: the text
 * discloses neither payments of others nor how many there are, and a client cannot make one of an earlier place.
 */
export class StreamCursors {
  constructor(private readonly keys: Pick<DerivedKeys, 'current' | 'ofRing'>) {}

  seal(cursor: StreamCursor, merchantId: string): string {
    return encrypt(this.keys.current(LABEL).key, encode(cursor), merchantId).toString('base64url');
  }

  /** @returns undefined if the text is no cursor of this merchant */
  open(text: string, merchantId: string): StreamCursor | undefined {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length !== OVERHEAD_BYTES + PLACE_BYTES.end) return undefined;
    for (const key of this.keys.ofRing(LABEL)) {
      const place = decryptOrNone(key, bytes, merchantId);
      if (place) return decode(place);
    }
    return undefined;
  }
}

function decryptOrNone(key: KeyObject, bytes: Buffer, merchantId: string): Buffer | undefined {
  try {
    return decrypt(key, bytes, merchantId);
  } catch {
    return undefined;
  }
}

function encode({ xid, atMs, paymentId, version }: StreamCursor): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES.end);
  bytes.writeBigUInt64BE(BigInt(xid), PLACE_BYTES.xid);
  bytes.writeBigUInt64BE(BigInt(Math.max(Math.floor(atMs), 0)), PLACE_BYTES.atMs);
  bytes.set(parse(paymentId), PLACE_BYTES.paymentId);
  bytes.writeUInt32BE(version, PLACE_BYTES.version);
  return bytes;
}

function decode(bytes: Buffer): StreamCursor {
  return {
    xid: String(bytes.readBigUInt64BE(PLACE_BYTES.xid)),
    atMs: Number(bytes.readBigUInt64BE(PLACE_BYTES.atMs)),
    paymentId: stringify(bytes, PLACE_BYTES.paymentId),
    version: bytes.readUInt32BE(PLACE_BYTES.version),
  };
}

/** The delivery id of an event in a stream. A redelivery has the same. */
export function paymentEventId({ paymentId, version }: Pick<StreamCursor, 'paymentId' | 'version'>): string {
  return uuidv5(`${paymentId}.${version}`, NAMESPACE);
}
