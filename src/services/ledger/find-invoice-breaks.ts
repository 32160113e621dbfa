import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { formatRupiah } from '../../domain/money';
import type { LedgerBreak } from './find-ledger-breaks';

/** What an account of fees has of a merchant. */
export interface FeeSum {
  readonly merchantId: string;
  readonly account: 'fee_revenue' | 'vat_payable';
  /** Credit less debit. */
  readonly amountRupiah: number;
}

/** The last posting that is invoiced. */
export async function findIssuedPosting(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ postingId: number }>(
    'select max(up_to_posting_id) as "postingId" from fee_periods where issued_at is not null',
  );
  return onlyRow(rows).postingId;
}

/** The fees and the VAT of each merchant, while the entries are read. */
export class InvoicedSums {
  readonly #rupiah = new Map<string, number>();

  add(sums: readonly FeeSum[]): void {
    for (const { merchantId, account, amountRupiah } of sums) {
      const key = `${merchantId} ${account}`;
      this.#rupiah.set(key, (this.#rupiah.get(key) ?? 0) + amountRupiah);
    }
  }

  /** Compares what is left of the ledger, with what is archived, after all invoices and credit notes: nothing. */
  async findBreaks(db: Queryable, issuedUpTo: number): Promise<LedgerBreak[]> {
    this.add(await readArchivedFees(db));
    this.add(await readInvoiced(db, issuedUpTo));
    return [...this.#rupiah].flatMap(([key, rupiah]): LedgerBreak[] => {
      if (rupiah === 0) return [];
      const [merchantId = '', account = ''] = key.split(' ');
      const detail = `Merchant ${merchantId}: ${account} has ${formatRupiah(rupiah)} more than its invoices.`;
      return [{ kind: 'invoice_sum', paymentId: null, detail }];
    });
  }
}

/** The archive takes only what is invoiced. */
async function readArchivedFees(db: Queryable): Promise<FeeSum[]> {
  const { rows } = await db.query<FeeSum>(
    `select merchant_id as "merchantId", account, sum(credit_rupiah - debit_rupiah)::bigint as "amountRupiah"
     from ledger_closings where account in ('fee_revenue', 'vat_payable') group by merchant_id, account`,
  );
  return rows;
}

/** Invoices and credit notes up to this posting, below zero. */
async function readInvoiced(db: Queryable, issuedUpTo: number): Promise<FeeSum[]> {
  const { rows } = await db.query<FeeSum>(
    `select merchant_id as "merchantId", account, -sum(rupiah)::bigint as "amountRupiah"
     from fee_invoices cross join lateral (
       values ('fee_revenue', fee_rupiah - vat_rupiah), ('vat_payable', vat_rupiah)
     ) as booked (account, rupiah)
     where up_to_posting_id <= $1 group by merchant_id, account`,
    [issuedUpTo],
  );
  return rows;
}
