import type { AccountStop } from '../../domain/exception-kinds';
import type { PaymentTerms } from '../../domain/payment';
import type { Queryable } from '../connection/pool';
import { openExceptionOnce } from './open-exception';

/**
 * New payments do not use the account any more. An exception names the cause: an operator repairs it, and enables the
 * account again.
 */
export async function stopProviderAccount(
  db: Queryable,
  { providerAccountId, referenceId, paymentId, totalRupiah: amountRupiah }: PaymentTerms,
  { kind, reason }: { readonly kind: AccountStop; readonly reason: string },
): Promise<void> {
  await db.query({
    name: 'stop_provider_account',
    text: 'select stop_provider_account($1)',
    values: [providerAccountId],
  });
  const detail = `The account ${providerAccountId} is stopped: ${reason}.`;
  await openExceptionOnce(db, { kind, providerAccountId, referenceId, paymentId, amountRupiah, detail });
}

/**
 * Whether an operator knows that the account changes amounts: the exception is open, or was resolved after the payment
 * was created. An order of before must not stop the account again.
 */
export async function isAmountChangeKnown(db: Queryable, accountId: string, createdAt: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_amount_change',
    text: `select from exceptions where kind = 'changed_amount' and provider_account_id = $1
      and (resolved_at is null or resolved_at > $2) limit 1`,
    values: [accountId, createdAt],
  });
  return rowCount !== 0;
}
