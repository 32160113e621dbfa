import type { Queryable } from '../../db/connection/pool';
import { findTotalDifferences, listCountedMerchants } from '../../db/ledger/payment-totals';
import { formatRupiah } from '../../domain/money';
import type { LedgerBreak } from './find-ledger-breaks';

/** Compares the totals of the dashboard with the payments, a merchant at a time. */
export async function* findTotalBreaks(db: Queryable): AsyncGenerator<LedgerBreak> {
  for (const merchantId of await listCountedMerchants(db)) {
    for (const { status, hour, provider, payments, totalRupiah } of await findTotalDifferences(db, merchantId)) {
      const total = `${provider}, "${status}", created in the hour from ${hour.toISOString()}`;
      const more = `the payments are ${payments} and ${formatRupiah(totalRupiah)} more`;
      yield { kind: 'totals_disagree', paymentId: null, detail: `Merchant ${merchantId}: ${total}: ${more}.` };
    }
  }
}
