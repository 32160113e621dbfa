import type { Queryable } from '../../db/connection/pool';
import { ConflictError } from '../../errors';
import { findLedgerBreaks } from '../ledger/find-ledger-breaks';
import { readLedgersOf } from '../ledger/read-payment-ledgers';

/**
 * The rows may have been changed since their verification.
 * @throws ConflictError if the ledger of one of these payments has a break
 */
export async function requireNoBreaks(db: Queryable, paymentIds: readonly string[]): Promise<void> {
  for (const ledger of await readLedgersOf(db, paymentIds)) {
    for (const { paymentId, detail } of findLedgerBreaks(ledger)) {
      const text = `The ledger of payment ${paymentId} has a break: ${detail} It stays, with the payments after it.`;
      throw new ConflictError('ledger_break', text);
    }
  }
}
