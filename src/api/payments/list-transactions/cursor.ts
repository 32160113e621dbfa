import { validate as isUuid } from 'uuid';
import type { ListPosition } from '../../../db/queries/list-payments';

const POSITION = /^(\d{1,15})\.(.+)$/;

/**
 * The place of a payment in the list, as text. It stays the same place whatever is added to the list. It is not signed:
 * another place only shows other payments of the same merchant.
 */
export function encodeCursor({ createdAt, id }: ListPosition): string {
  return Buffer.from(`${createdAt.getTime()}.${id}`).toString('base64url');
}

/** Undefined for any text that `encodeCursor` does not make. */
export function decodeCursor(text: string): ListPosition | undefined {
  const [, milliseconds, id = ''] = POSITION.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (!isUuid(id)) return undefined;
  const position = { createdAt: new Date(Number(milliseconds)), id };
  return encodeCursor(position) === text ? position : undefined;
}
