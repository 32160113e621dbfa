import type { KeyObject } from 'node:crypto';
import { parse, stringify, v5 as uuidv5 } from 'uuid';
import { decrypt, encrypt, OVERHEAD_BYTES } from '../../crypto/aead';
import type { DerivedKeys } from '../../crypto/derived-keys';
import type { StreamCursor } from '../../db/webhooks/find-webhook-stream';

const LABEL = 'lunas stream cursors';
/** Transaction number, time, subject, version: of one length, which discloses nothing. */
const POSITION_BYTES = { xid: 0, atMs: 8, subjectId: 16, version: 32, end: 36 } as const;

/** Random, fixed for ever: receivers recognise a repeated event by the id that is derived with it. */
const NAMESPACE = '5b0b6f4e-60f2-4c5e-9a43-2b6a1f2f7c11';

/**
 * Cursors as texts for one merchant. A position in the stream is an event of any merchant, so it is encrypted: the text
 * discloses neither payments of others nor how many there are, and a client cannot make one of an earlier position.
 */
export class StreamCursors {
  constructor(private readonly keys: Pick<DerivedKeys, 'current' | 'ofRing'>) {}

  seal(cursor: StreamCursor, merchantId: string): string {
    return encrypt(this.keys.current(LABEL).key, encode(cursor), merchantId).toString('base64url');
  }

  /** @returns undefined if the text is no cursor of this merchant */
  open(text: string, merchantId: string): StreamCursor | undefined {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length !== OVERHEAD_BYTES + POSITION_BYTES.end) return undefined;
    for (const key of this.keys.ofRing(LABEL)) {
      const position = decryptOrNone(key, bytes, merchantId);
      if (position) return decode(position);
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

function encode({ xid, atMs, subjectId, version }: StreamCursor): Buffer {
  const bytes = Buffer.alloc(POSITION_BYTES.end);
  bytes.writeBigUInt64BE(BigInt(xid), POSITION_BYTES.xid);
  bytes.writeBigUInt64BE(BigInt(Math.max(Math.floor(atMs), 0)), POSITION_BYTES.atMs);
  bytes.set(parse(subjectId), POSITION_BYTES.subjectId);
  bytes.writeUInt32BE(version, POSITION_BYTES.version);
  return bytes;
}

function decode(bytes: Buffer): StreamCursor {
  return {
    xid: String(bytes.readBigUInt64BE(POSITION_BYTES.xid)),
    atMs: Number(bytes.readBigUInt64BE(POSITION_BYTES.atMs)),
    subjectId: stringify(bytes, POSITION_BYTES.subjectId),
    version: bytes.readUInt32BE(POSITION_BYTES.version),
  };
}

/** The delivery id of an event in a stream. A redelivery has the same. */
export function streamedEventId({ subjectId, version }: Pick<StreamCursor, 'subjectId' | 'version'>): string {
  return uuidv5(`${subjectId}.${version}`, NAMESPACE);
}
