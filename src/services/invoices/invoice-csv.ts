import type { Queryable } from '../../db/connection/pool';
import type { FeeInvoice } from '../../domain/fee-invoice';
import { formatInWib } from '../../domain/wib';
import { csvCells, toCsv, type CsvColumns } from '../../lib/csv';
import { listInvoicePostings, type InvoicePosting } from './fee-invoices';

/** A line for a file: a posting, or a credit note, which is its only line. */
interface InvoiceRow extends Omit<InvoicePosting, 'postingId' | 'kind' | 'amountRupiah'> {
  readonly kind: InvoicePosting['kind'] | 'credit_note';
  readonly amountRupiah: number | null;
}

/** The columns of an invoice as CSV. Amounts are rupiah, times have the offset of WIB. */
export const INVOICE_CSV_COLUMNS: CsvColumns<InvoiceRow> = {
  occurred_at: ({ occurredAt }) => formatInWib(occurredAt),
  kind: ({ kind }) => kind,
  reference: ({ referenceId }) => referenceId,
  merchant_reference_id: ({ merchantReferenceId }) => merchantReferenceId,
  amount: ({ amountRupiah }) => amountRupiah,
  fee_amount: ({ feeRupiah }) => feeRupiah,
  vat_amount: ({ vatRupiah }) => vatRupiah,
};

function creditNoteRow({ number, issuedAt, feeRupiah, vatRupiah }: FeeInvoice): InvoiceRow {
  const empty = { merchantReferenceId: null, amountRupiah: null };
  return { occurredAt: issuedAt, kind: 'credit_note', referenceId: number, ...empty, feeRupiah, vatRupiah };
}

/** The lines of an invoice for a file. */
interface InvoiceExport {
  /** At most `limit` lines that follow the ones before. None: the end. */
  readonly readRows: (limit: number) => Promise<readonly InvoiceRow[]>;
  /** What stands after the end, if the archive has taken postings of the invoice. */
  readonly missingLine: () => string | null;
}

/** Opens an invoice for a file: its postings are read in short pages. */
export function openInvoiceExport(db: Queryable, invoice: FeeInvoice): InvoiceExport {
  const isCreditNote = invoice.kind === 'credit_note';
  const rows = isCreditNote ? [creditNoteRow(invoice)].values() : listInvoicePostings(db, invoice);
  let missing = isCreditNote ? 1 : invoice.lines.reduce((sum, line) => sum + line.count, 0);
  return {
    async readRows(limit) {
      const page = await take(rows, limit);
      missing -= page.length;
      return page;
    },
    missingLine: () => (missing > 0 ? 'Archived: ask Lunas for the file' : null),
  };
}

const CSV_PART_LINES = 1_000;

/** An invoice as CSV, with a byte order mark for spreadsheets. */
export async function* streamInvoiceCsv(db: Queryable, invoice: FeeInvoice): AsyncGenerator<string> {
  yield toCsv([Object.keys(INVOICE_CSV_COLUMNS)], { bom: true });
  const { readRows, missingLine } = openInvoiceExport(db, invoice);
  let part: readonly InvoiceRow[];
  while ((part = await readRows(CSV_PART_LINES)).length > 0) {
    yield toCsv(part.map((row) => csvCells(INVOICE_CSV_COLUMNS, row)));
  }
  const missing = missingLine();
  if (missing !== null) yield toCsv([[missing]]);
}

/** The next items, at most `limit`. None: the end. */
async function take<Item>(items: Iterator<Item> | AsyncIterator<Item>, limit: number): Promise<readonly Item[]> {
  const taken: Item[] = [];
  while (taken.length < limit) {
    const next = await items.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}
