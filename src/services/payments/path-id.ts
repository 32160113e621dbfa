import { validate as isUuid } from 'uuid';
import { referencePattern } from '../../crypto/reference-id';
import type { PaymentKey } from '../../db/payments/find-payment';

export const REFERENCE_ID = referencePattern('LN');

/** Fewer characters begin too many references: four behind those of the cell are one of a million. */
const MIN_BEGINNING = 8;

/** Whether some reference may begin with this text, in capitals. */
export const isReferenceBeginning = (text: string) =>
  text.length >= MIN_BEGINNING && /^LN[\dA-HJKMNP-TV-Z]+$/.test(text);

/** The payment that a path names, by UUID or reference_id; undefined for a text of neither form. */
export function parsePathId(text: string): PaymentKey | undefined {
  if (REFERENCE_ID.test(text)) return { referenceId: text };
  return isUuid(text) ? { id: text.toLowerCase() } : undefined;
}
