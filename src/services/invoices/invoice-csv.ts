import type { Queryable } from '../../db/connection/pool';
import type { FeeInvoice } from '../../domain/fee-invoice';
import { formatInWib } from '../../domain/wib';
import { toCsv } from '../../lib/csv';
import { listInvoicePostings, type InvoicePosting } from './fee-invoices';

/** The columns of an invoice as CSV, in this order. Amounts are rupiah, times have the offset of WIB. */
const CSV_COLUMNS = {
  occurred_at: ({ occurredAt }) => formatInWib(occurredAt),
  kind: ({ kind }) => kind,
  reference: ({ referenceId }) => referenceId,
  merchant_reference_id: ({ merchantReferenceId }) => merchantReferenceId,
  amount: ({ amountRupiah }) => amountRupiah,
  fee_amount: ({ feeRupiah }) => feeRupiah,
  vat_amount: ({ vatRupiah }) => vatRupiah,
} as const satisfies Record<string, (posting: InvoicePosting) => string | number | null>;

export const INVOICE_CSV_COLUMNS: readonly string[] = Object.keys(CSV_COLUMNS);

type InvoiceCells = readonly (string | number | null)[];

/** The last line, if the archive has taken postings of the invoice. */
const ARCHIVED: InvoiceCells = ['Archived: ask Lunas for the file'];

/** A credit note is its only line: it has no postings of payments and payouts. */
function creditNoteCells({ number, issuedAt, feeRupiah, vatRupiah }: FeeInvoice): InvoiceCells {
  return [formatInWib(issuedAt), 'credit_note', number, null, null, feeRupiah, vatRupiah];
}

/** The lines of an invoice for a file: its postings, and whether some are archived. They are read in short pages. */
export async function* listInvoiceCells(db: Queryable, invoice: FeeInvoice): AsyncGenerator<InvoiceCells> {
  if (invoice.kind === 'credit_note') return yield creditNoteCells(invoice);
  let count = 0;
  for await (const posting of listInvoicePostings(db, invoice)) {
    count += 1;
    yield Object.values(CSV_COLUMNS).map((valueOf) => valueOf(posting));
  }
  if (count < invoice.lines.reduce((sum, line) => sum + line.count, 0)) yield ARCHIVED;
}

const CSV_PART_LINES = 1_000;

/** An invoice as CSV, with a byte order mark for spreadsheets. */
export async function* streamInvoiceCsv(db: Queryable, invoice: FeeInvoice): AsyncGenerator<string> {
  yield toCsv([INVOICE_CSV_COLUMNS], { bom: true });
  const lines = listInvoiceCells(db, invoice);
  let part: readonly InvoiceCells[];
  while ((part = await take(lines, CSV_PART_LINES)).length > 0) yield toCsv(part);
}

/** The next items, at most `limit`. None: the end. */
export async function take<Item>(items: AsyncGenerator<Item>, limit: number): Promise<readonly Item[]> {
  const taken: Item[] = [];
  while (taken.length < limit) {
    const next = await items.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}
