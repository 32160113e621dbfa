import type { Queryable } from '../../db/connection/pool';
import type { FeeInvoice, InvoiceLineKind } from '../../domain/fee-invoice';

export const INVOICE_COLUMNS = `id, number, sequence, merchant_id as "merchantId", kind,
  to_char(month, 'YYYY-MM') as month, part, corrects, from_posting_id as "fromPostingId",
  up_to_posting_id as "upToPostingId", fee_rupiah as "feeRupiah", vat_rupiah as "vatRupiah", lines,
  encode(sha256, 'hex') as sha256, issued_at as "issuedAt"`;

/**
 * Undefined if there is none with this number, or another merchant has it.
 * @param merchantId null: of any merchant, for operators
 */
export async function findInvoice(
  db: Queryable,
  merchantId: string | null,
  number: string,
): Promise<FeeInvoice | undefined> {
  const { rows } = await db.query<FeeInvoice>(
    `select ${INVOICE_COLUMNS} from fee_invoices where number = $1 and ($2::uuid is null or merchant_id = $2)`,
    [number, merchantId],
  );
  return rows[0];
}

export interface InvoicePage {
  /** The page begins with the next older one; null: with the newest. */
  readonly beforeSequence: number | null;
  readonly limit: number;
}

/** The invoices and credit notes of a merchant, the newest first. */
export async function listInvoicesOfMerchant(
  db: Queryable,
  merchantId: string,
  { beforeSequence, limit }: InvoicePage,
): Promise<FeeInvoice[]> {
  const { rows } = await db.query<FeeInvoice>({
    name: 'list_invoices_of_merchant',
    text: `select ${INVOICE_COLUMNS} from fee_invoices
      where merchant_id = $1 and sequence < coalesce($2, 2147483647) order by sequence desc limit $3`,
    values: [merchantId, beforeSequence, limit],
  });
  return rows;
}

export interface InvoiceFilter {
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  /** `2026-11`; null: of all months. */
  readonly month: string | null;
  readonly limit: number;
}

/** The invoices and credit notes of all merchants, the newest first, for operators. */
export async function listInvoices(db: Queryable, { merchantId, month, limit }: InvoiceFilter): Promise<FeeInvoice[]> {
  const { rows } = await db.query<FeeInvoice>(
    `select ${INVOICE_COLUMNS} from fee_invoices
     where ($1::uuid is null or merchant_id = $1) and ($2::text is null or month = ($2 || '-01')::date)
     order by sequence desc limit $3`,
    [merchantId, month, limit],
  );
  return rows;
}

/** A posting that an invoice covers. */
export interface InvoicePosting {
  readonly postingId: number;
  readonly occurredAt: Date;
  readonly kind: InvoiceLineKind;
  /** The reference of the payment or the payout. */
  readonly referenceId: string;
  readonly merchantReferenceId: string | null;
  /** Below zero where it was given back, as is the fee. */
  readonly amountRupiah: number;
  /** VAT included. */
  readonly feeRupiah: number;
  readonly vatRupiah: number;
}

const POSTINGS_PER_PAGE = 1_000;

/** A posting of a page; its other fields are null if it books no fee. */
type PagePosting = InvoicePosting | { readonly postingId: number; readonly kind: null };

/**
 * The postings of an invoice in their order, page by page. Those that the archive has taken are missing: the counts of
 * the lines include them. A credit note has none.
 */
export async function* listInvoicePostings(db: Queryable, invoice: FeeInvoice): AsyncGenerator<InvoicePosting> {
  for (let after: number | undefined = invoice.fromPostingId; after !== undefined;) {
    const rows = await readPostingPage(db, invoice, after);
    for (const row of rows) if (row.kind !== null) yield row;
    after = rows.length < POSTINGS_PER_PAGE ? undefined : rows.at(-1)?.postingId;
  }
}

/** The lateral join reads the fees of the page only: a plan of the whole view reads all later postings, too. */
async function readPostingPage(
  db: Queryable,
  { merchantId, upToPostingId }: FeeInvoice,
  after: number,
): Promise<readonly PagePosting[]> {
  const { rows } = await db.query<PagePosting>({
    name: 'list_invoice_postings',
    text: `select posting.id as "postingId", fee.occurred_at as "occurredAt", fee.kind,
        fee.reference_id as "referenceId", fee.merchant_reference_id as "merchantReferenceId",
        fee.amount_rupiah as "amountRupiah", fee.fee_rupiah as "feeRupiah", fee.vat_rupiah as "vatRupiah"
      from (
        select id from ledger_postings where merchant_id = $1 and id > $2 and id <= $3
        order by id limit ${POSTINGS_PER_PAGE}
      ) posting left join lateral (select * from fee_postings where posting_id = posting.id limit 1) fee on true
      order by posting.id`,
    values: [merchantId, after, upToPostingId],
  });
  return rows;
}
