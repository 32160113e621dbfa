import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow, requireRow } from '../../db/connection/require-row';
import { actorText, requesterOf } from '../../domain/actor';
import { vatOfPart, vatRangeOfPart, type FeeInvoice, type LeftOfInvoice } from '../../domain/fee-invoice';
import { formatRupiah } from '../../domain/money';
import { Operation } from '../operations/operation';
import { done, rejected, type Reasons, type RejectionTexts } from '../operations/rejections';
import type { SealingDependencies } from '../provider-accounts/provider-accounts';
import { findCompany } from './company-details';
import { INVOICE_COLUMNS } from './fee-invoices';
import { sealInvoiceParties } from './invoice-parties';

const MAX_EVIDENCE_CHARACTERS = 1_000;

const creditInput = z.object({
  /** VAT included. */
  feeRupiah: z.int().min(1),
  /** Absent: in the proportion of what is left. */
  vatRupiah: z.int().min(0).optional(),
  evidence: z.string().min(1).max(MAX_EVIDENCE_CHARACTERS),
  /** What was left when two operators saw it. */
  leftRupiah: z.int().optional(),
});

/** An invoice, and what its credit notes have left of it. */
interface CreditableInvoice extends Pick<FeeInvoice, 'number' | 'kind' | 'merchantId'>, LeftOfInvoice {}

const rejections = {
  is_credit_note: { number: z.string() },
  fee_exceeds: { number: z.string(), left: z.int() },
  vat_exceeds: { number: z.string(), fee: z.int(), least: z.int(), most: z.int() },
  superseded: {},
  no_company: {},
} as const satisfies Reasons;

const messages: RejectionTexts<typeof rejections> = {
  is_credit_note: ({ number }) => `${number} is a credit note: name the invoice that it corrects.`,
  fee_exceeds: ({ number, left }) => `${number} has ${formatRupiah(left)} left.`,
  vat_exceeds: ({ number, fee, least, most }) =>
    least > most
      ? `${number} has more VAT than fee left, so it can have no credit note.`
      : `${formatRupiah(fee)} of ${number} have VAT from ${formatRupiah(least)} to ${formatRupiah(most)}.`,
  superseded: () => 'The invoice has another credit note since this request: request it again.',
  no_company: () => 'The company has no details, so it issues no credit notes.',
};

/** Gives back a part of the fees of an invoice, by a credit note. In production two operators decide. */
export const creditInvoice = new Operation({
  name: 'invoice.credit',
  operator: 'all',
  path: z.object({ number: z.string() }),
  input: creditInput,
  rejections,
  messages,
  async load({ db }: SealingDependencies, _scope, { number }) {
    return { invoice: await findCreditable(db, number), company: await findCompany(db) };
  },
  target: ({ subject }) => subject.invoice.number,
  allows({ invoice, company }, _by, input) {
    const { number, kind, leftRupiah } = invoice;
    if (kind === 'credit_note') return { reason: 'is_credit_note', number };
    if (company === undefined) return { reason: 'no_company' };
    if (input === undefined) return null;
    const { feeRupiah, vatRupiah = vatOfPart(invoice, feeRupiah) } = input;
    if (feeRupiah > leftRupiah) return { reason: 'fee_exceeds', number, left: leftRupiah };
    const { least, most } = vatRangeOfPart(invoice, feeRupiah);
    if (least <= vatRupiah && vatRupiah <= most) return null;
    return { reason: 'vat_exceeds', number, fee: feeRupiah, least, most };
  },
  approval: {
    executes: 'database',
    amountRupiah: ({ input }) => input.feeRupiah,
    merchantId: ({ invoice }) => invoice.merchantId,
    propose: ({ subject: { invoice }, input }) => ({
      parameters: {
        ...input,
        vatRupiah: input.vatRupiah ?? vatOfPart(invoice, input.feeRupiah),
        number: invoice.number,
        leftRupiah: invoice.leftRupiah,
      },
      store: () => Promise.resolve(),
    }),
  },
  async perform({ needs: { db, loadSealer }, by, subject: { invoice, company }, input }) {
    const { feeRupiah, vatRupiah = vatOfPart(invoice, feeRupiah), evidence, leftRupiah } = input;
    if (company === undefined) return rejected({ reason: 'no_company' });
    if (leftRupiah !== undefined && leftRupiah !== invoice.leftRupiah) return rejected({ reason: 'superseded' });
    const note = { id: uuidv7(), merchantId: invoice.merchantId };
    const sealedParties = await sealInvoiceParties({ db, sealer: await loadSealer() }, note, company);
    const { rows } = await db.query<FeeInvoice>(
      `select ${INVOICE_COLUMNS} from book_adjustment($1, $2, $3, $4, $5, $6, $7, $8)`,
      [uuidv7(), invoice.number, feeRupiah, vatRupiah, evidence, actorText(requesterOf(by)), note.id, sealedParties],
    );
    return done(onlyRow(rows));
  },
});

/** @throws NotFoundError if there is no such invoice */
async function findCreditable(db: Queryable, number: string): Promise<CreditableInvoice> {
  const { rows } = await db.query<CreditableInvoice>(
    `select number, kind, merchant_id as "merchantId",
       (fee_rupiah + coalesce(fee, 0))::bigint as "leftRupiah",
       (vat_rupiah + coalesce(vat, 0))::bigint as "leftVatRupiah"
     from fee_invoices cross join lateral (
       select sum(note.fee_rupiah) as fee, sum(note.vat_rupiah) as vat from fee_invoices note
       where note.corrects = fee_invoices.number
     ) credited where number = $1`,
    [number],
  );
  return requireRow(rows, 'invoice', number);
}
