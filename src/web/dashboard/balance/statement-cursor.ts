import { z } from 'zod';
import type { StatementCursor } from '../../../services/payouts/balance';

const POSITION = /^(\d{1,15})\.(-?\d{1,15})$/;

/**
 * The position of a line in the statement of its day, with the balance after it. It is not signed: another one only
 * shows another balance beside the lines of the same merchant, in the browser that asks for it.
 */
export function encodeStatementCursor({ postingId, balanceAfterRupiah }: StatementCursor): string {
  return Buffer.from(`${postingId}.${balanceAfterRupiah}`).toString('base64url');
}

/** A text that `encodeStatementCursor` did not create is undefined: the page then begins with the first line. */
export const statementCursorSchema = z
  .string()
  .transform((text) => {
    const [, postingId, balanceAfterRupiah] = POSITION.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
    if (postingId === undefined) return undefined;
    return { postingId: Number(postingId), balanceAfterRupiah: Number(balanceAfterRupiah) };
  })
  .optional();
