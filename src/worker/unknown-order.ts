import type { Queryable } from '../db/connection/pool';
import { findArchivedPayment } from '../db/operations/archive';
import { openException } from '../db/operations/open-exception';
import { closeNotifications, newestNotification, type ProviderOrder } from '../db/payments/notification-inbox';
import { recordArchivedLatePayment } from '../db/transitions/late-payment-transitions';
import { BANK_COVERED_BY } from '../domain/bank-payout';
import { COVERED_BY } from '../domain/provider-status';
import type { ProviderRegistry } from '../providers/registry';

const QUERY_TIMEOUT_MS = 10_000;

interface Dependencies {
  readonly db: Queryable;
  readonly providers: ProviderRegistry;
}

/**
 * Handles the notifications of an order or a payout that Lunas does not have: the account has another user, our record
 * is lost, or the payment is archived. Money for an archived payment that was never paid goes to suspense.
 * @throws if the provider returns no determinate status of an archived payment: the sweeper repeats it
 */
export async function handleUnknownOrder({ db, providers }: Dependencies, order: ProviderOrder): Promise<void> {
  const latestNotificationId = await newestNotification(db, order);
  if (await isOfPayoutsAccount(db, order)) {
    const detail = 'The bank sent a notification of a payout that is not in PostgreSQL.';
    await openException(db, { kind: 'unknown_payout', ...order, detail });
    return closeNotifications(db, order, latestNotificationId, BANK_COVERED_BY.returned);
  }
  const archived = await findArchivedPayment(db, order);
  if (!archived || !(await recordLatePayment({ db, providers }, order))) {
    const where = archived ? `in the archive since ${archived.archivedAt.toISOString()}` : 'not in PostgreSQL';
    const detail = `The provider sent a notification of an order that is ${where}.`;
    await openException(db, { kind: 'unknown_order', ...order, detail });
  }
  // The exception covers all notifications of the order.
  await closeNotifications(db, order, latestNotificationId, COVERED_BY.refunded);
}

async function isOfPayoutsAccount(db: Queryable, { providerAccountId }: ProviderOrder): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'find_payouts_account',
    text: "select from provider_accounts where id = $1 and purpose = 'payouts'",
    values: [providerAccountId],
  });
  return rowCount === 1;
}

async function recordLatePayment({ db, providers }: Dependencies, order: ProviderOrder): Promise<boolean> {
  const provider = await providers.forAccount(order.providerAccountId);
  const call = { signal: new AbortController().signal, deadlineAtMs: Date.now() + QUERY_TIMEOUT_MS };
  const found = await provider.findPayment({ referenceId: order.referenceId, issued: null }, call);
  if (found.outcome === 'indeterminate') throw new Error(`The provider's status is indeterminate: ${found.reason}`);
  if (found.outcome === 'not_found' || found.payment.status !== 'paid') return false;
  const { totalRupiah, providerTransactionId, paidAt } = found.payment;
  const at = new Date();
  return recordArchivedLatePayment(db, order, { totalRupiah, providerTransactionId, paidAt: paidAt ?? at }, at);
}
