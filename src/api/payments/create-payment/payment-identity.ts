import { hash } from 'node:crypto';
import { v5 as uuidV5, v7 as uuidV7 } from 'uuid';
import type { PaymentTerms } from '../../../domain/payment';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const REFERENCE_CHARACTERS = 16;

export type PaymentIdentity = Pick<PaymentTerms, 'paymentId' | 'idempotencyKey'>;

/**
 * With an idempotency key the id is a function of merchant and key, so the same key is the same payment and the same
 * workflow. Without a key every request creates a payment.
 */
export function paymentIdentity(merchantId: string, idempotencyKey: string | null): PaymentIdentity {
  const paymentId = idempotencyKey === null ? uuidV7() : uuidV5(idempotencyKey, merchantId);
  return { paymentId, idempotencyKey };
}

/** The reference id of a payment: `LN` and 80 bits of the SHA-256 of its id in base 32 (Crockford). */
export function referenceIdOf(paymentId: string): string {
  const digest = hash('sha256', paymentId);
  const digits = BigInt(`0x${digest.slice(0, 20)}`)
    .toString(32)
    .padStart(REFERENCE_CHARACTERS, '0');
  return `LN${digits.replaceAll(/./g, (digit) => CROCKFORD.charAt(Number.parseInt(digit, 32)))}`;
}
