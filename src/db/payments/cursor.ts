import { validate as isUuid } from 'uuid';
import type { ListPosition } from './list-payments';

const POSITION = /^(\d{1,15})\.(.+)$/;

/**
 * The position of a payment in the list, as text. New payments do not change it. It is not signed: another position
 * only shows other payments of the same merchant.
 */
export function encodeCursor({ createdAt, id }: ListPosition): string {
  return Buffer.from(`${createdAt.getTime()}.${id}`).toString('base64url');
}

/** Undefined for a text that `encodeCursor` did not create. */
export function decodeCursor(text: string): ListPosition | undefined {
  const [, milliseconds, id = ''] = POSITION.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (!isUuid(id)) return undefined;
  const position = { createdAt: new Date(Number(milliseconds)), id };
  return encodeCursor(position) === text ? position : undefined;
}
