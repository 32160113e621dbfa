import { v5 as uuidv5 } from 'uuid';
import type { StreamCursor } from '../../db/queries/find-webhook-stream';

const CURSOR = /^(\d{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,9})$/;

/** Random, fixed for ever: receivers recognise a repeated event by the id that is derived with it. */
const NAMESPACE = '5b0b6f4e-60f2-4c5e-9a43-2b6a1f2f7c11';

export function formatCursor({ xid, paymentId, version }: StreamCursor): string {
  return `${xid}.${paymentId}.${version}`;
}

/** @returns undefined if the text is no cursor */
export function parseCursor(text: string): StreamCursor | undefined {
  const [, xid, paymentId, version] = CURSOR.exec(text) ?? [];
  if (xid === undefined || paymentId === undefined || version === undefined) return undefined;
  return { xid, paymentId, version: Number(version) };
}

/** The delivery id of an event in a stream. A redelivery has the same. */
export function paymentEventId({ paymentId, version }: Pick<StreamCursor, 'paymentId' | 'version'>): string {
  return uuidv5(`${paymentId}.${version}`, NAMESPACE);
}
