import { createHash } from 'node:crypto';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';

/** A notification as Midtrans signs it: SHA-512 of order, code, amount and server key. */
export function signedNotification(
  orderId: string,
  changes: Record<string, string> = {},
  serverKey = SANDBOX_SERVER_KEY,
) {
  const fields = { order_id: orderId, status_code: '200', gross_amount: '20000.00', transaction_status: 'settlement' };
  const { order_id, status_code, gross_amount } = { ...fields, ...changes };
  const signature = createHash('sha512').update(order_id + status_code + gross_amount + serverKey);
  return { ...fields, signature_key: signature.digest('hex'), transaction_id: 'tx', ...changes };
}
