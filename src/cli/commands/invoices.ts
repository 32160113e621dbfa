import { writeFile } from 'node:fs/promises';
import { Option } from 'commander';
import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { requireMerchant } from '../../db/merchants/require-merchant';
import type { FeeInvoice, InvoiceLine } from '../../domain/fee-invoice';
import { formatRupiah } from '../../domain/money';
import { messageOf, NotFoundError, UserError } from '../../errors';
import { creditInvoice } from '../../services/invoices/credit-invoice';
import { findInvoice, listInvoices } from '../../services/invoices/fee-invoices';
import { streamInvoiceCsv } from '../../services/invoices/invoice-csv';
import { renderInvoicePdf, type InvoiceDocument } from '../../services/invoices/invoice-pdf';
import { issueInvoices } from '../../services/invoices/issue-invoices';
import { openInvoice } from '../../services/invoices/open-invoice';
import { requireDone } from '../../services/operations/require-done';
import type { LunasCommand } from '../lunas-command';
import { id, limit, month, note, wholeNumber } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { printParts } from '../print-parts';
import { runOperation } from '../run-operation';

const number = z.string().regex(/^(FI|CN)-\d{4}-\d{6,9}$/, 'must be a number such as FI-2026-000001');

export function defineInvoices(invoices: LunasCommand): void {
  addIssue(invoices);
  addCredit(invoices);
  addList(invoices);
  addShow(invoices);
}

function addIssue(invoices: LunasCommand): void {
  invoices
    .command('issue')
    .description('issue the invoices of a month that is over, as the schedule does; what is issued stays')
    .option('--month <month>', 'in WIB (default: the month before this one)')
    .option('--now', 'only in a sandbox: what was booked of this month until now')
    .examples('lunas invoices issue --month 2026-11 --note "the schedule was off"')
    .writeAction(
      z
        .object({ month: month.optional(), now: z.boolean().default(false) })
        .refine((input) => !input.now || input.month === undefined, { error: 'needs --month or --now, not both' }),
      async (input, audit, context) => {
        const needs = { ...audit, loadSealer: () => context.sealer(audit.db) };
        const issued = requireDone(await runOperation(audit, issueInvoices, needs, { path: {}, input }));
        return listResult(issued, 'No fee of this month is without an invoice.');
      },
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

function addCredit(invoices: LunasCommand): void {
  const input = z.object({
    number,
    fee: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    vat: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
    note,
  });
  invoices
    .command('credit <number>')
    .description(
      'give back a part of the fee of an invoice, by a credit note; ' +
        'in production a second operator approves the request',
    )
    .requiredOption('--fee <rupiah>', 'what is given back, with its VAT')
    .option('--vat <rupiah>', 'the VAT in it (default: in the proportion of the invoice)')
    .requiredOption('--note <text>', 'why, for the credit note and the audit log')
    .examples('lunas invoices credit FI-2026-000001 --fee 700 --note "agreed price was missing"')
    .writeAction(input, async ({ number: wanted, fee: feeRupiah, vat: vatRupiah, note: evidence }, audit, context) => {
      const needs = { ...audit, loadSealer: () => context.sealer(audit.db) };
      const call = { path: { number: wanted }, input: { feeRupiah, vatRupiah, evidence } };
      return listResult([requireDone(await runOperation(audit, creditInvoice, needs, call))]);
    });
}

function addList(invoices: LunasCommand): void {
  invoices
    .command('list')
    .description('list invoices and credit notes, the newest first')
    .option('--merchant <merchant-id>', 'only of this merchant')
    .option('--month <month>', 'only of this month')
    .option('--limit <n>', 'at most so many', '100')
    .databaseAction(
      z.object({ merchant: id.optional(), month: month.optional(), limit }),
      async ({ merchant, month: ofMonth, limit: most }, db) => {
        if (merchant !== undefined) await requireMerchant(db, merchant);
        const filter = { merchantId: merchant ?? null, month: ofMonth ?? null, limit: most };
        return listResult(await listInvoices(db, filter));
      },
    );
}

function addShow(invoices: LunasCommand): void {
  const show = invoices
    .command('show <number>')
    .description('show an invoice or a credit note')
    .option('--pdf <file>', 'write it as PDF, in Indonesian; its parties are sealed, so the audit log has who did')
    .addOption(new Option('--csv', 'print its payments and payouts as CSV').conflicts(['json', 'pdf']))
    .option('--note <text>', 'why, for the audit log: in production --pdf needs it')
    .examples(
      'lunas invoices show FI-2026-000001',
      'lunas invoices show FI-2026-000001 --pdf invoice.pdf --note "case 4711"',
      'lunas invoices show FI-2026-000001 --csv > invoice.csv',
    );
  show.databaseAction(
    z.object({
      number,
      pdf: z.string().optional(),
      csv: z.boolean().default(false),
      note: note.optional(),
    }),
    async ({ number: wanted, pdf, csv, note: reason }, db, context, environment) => {
      if (pdf !== undefined) {
        const audit = await show.auditOf(db, context, environment, { note: reason });
        const needs = { db, log: audit.log, sealer: await context.sealer(db) };
        const call = { path: { number: wanted }, input: {} };
        return writePdf(pdf, requireDone(await runOperation(audit, openInvoice, needs, call)));
      }
      const invoice = await findInvoice(db, null, wanted);
      if (invoice === undefined) throw new NotFoundError('invoice', wanted);
      if (csv) return printParts(streamInvoiceCsv(db, invoice), show.terminal);
      return { json: { invoice: jsonOf(invoice) }, text: describe(invoice) };
    },
  );
}

/** Only the user may read the file: it has personal data. */
async function writePdf(file: string, opened: Omit<InvoiceDocument, 'language'>): Promise<CommandResult> {
  await writeFile(file, await renderInvoicePdf({ ...opened, language: 'id' }), { mode: 0o600 }).catch(
    (error: unknown) => {
      throw new UserError(`${file} cannot be written: ${messageOf(error)}`);
    },
  );
  return { json: { invoice: jsonOf(opened.invoice), file }, text: `${opened.invoice.number} is in ${file}.` };
}

function listResult(invoices: readonly FeeInvoice[], ifNone = 'There are no invoices.'): CommandResult {
  const rows = invoices.map((invoice) => ({
    NUMBER: invoice.number,
    MERCHANT: invoice.merchantId,
    MONTH: invoice.month,
    FEE: formatRupiah(invoice.feeRupiah),
    VAT: formatRupiah(invoice.vatRupiah),
    CORRECTS: invoice.corrects,
    ISSUED: invoice.issuedAt,
  }));
  return { json: { invoices: invoices.map(jsonOf) }, text: formatTable(rows, ifNone) };
}

/** The keys of the result, in camel case. */
function jsonOf({ feeRupiah, vatRupiah, lines, ...invoice }: FeeInvoice): object {
  const { number: own, merchantId, kind, month: ofMonth, part, corrects, sha256, issuedAt } = invoice;
  return {
    number: own,
    merchantId,
    kind,
    month: ofMonth,
    part,
    feeAmount: feeRupiah,
    vatAmount: vatRupiah,
    corrects,
    sha256,
    issuedAt,
    lines: lines.map(lineJson),
  };
}

function lineJson({ flatRupiah, turnoverRupiah, feeRupiah, vatRupiah, ...line }: InvoiceLine): object {
  const amounts = { turnoverAmount: turnoverRupiah, feeAmount: feeRupiah, vatAmount: vatRupiah };
  return { ...line, flatAmount: flatRupiah, ...amounts };
}

function describe(invoice: FeeInvoice): string {
  const fields = formatFields({
    Number: invoice.number,
    Merchant: invoice.merchantId,
    Month: invoice.month,
    Part: invoice.part,
    Corrects: invoice.corrects,
    Fee: formatRupiah(invoice.feeRupiah),
    'of which VAT': formatRupiah(invoice.vatRupiah),
    Issued: invoice.issuedAt,
    'SHA-256': invoice.sha256,
  });
  if (invoice.lines.length === 0) return fields;
  const rows = invoice.lines.map((line) => ({
    KIND: line.kind,
    CLASS: line.class,
    RATE: line.basisPoints === null ? null : `${line.basisPoints} bps + ${formatRupiah(line.flatRupiah ?? 0)}`,
    COUNT: line.count,
    TURNOVER: formatRupiah(line.turnoverRupiah),
    FEE: formatRupiah(line.feeRupiah),
    VAT: formatRupiah(line.vatRupiah),
  }));
  return `${fields}\n\n${formatTable(rows, '')}`;
}
