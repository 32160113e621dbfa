import { validate as isUuid } from 'uuid';
import type { PaymentKey } from '../../db/payments/find-payment';

export const REFERENCE_ID = /^LN[0-9A-HJKMNP-TV-Z]{16}$/;

/** The payment that a path names, by UUID or reference_id; undefined for a text of neither form. */
export function parsePathId(text: string): PaymentKey | undefined {
  if (REFERENCE_ID.test(text)) return { referenceId: text };
  return isUuid(text) ? { id: text.toLowerCase() } : undefined;
}
