import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import { findEnvironment } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import type { FeeInvoice } from '../../domain/fee-invoice';
import { monthBefore, monthInWib } from '../../domain/wib';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import type { SealingDependencies } from '../provider-accounts/provider-accounts';
import { findCompany, type CompanyDetails } from './company-details';
import { INVOICE_COLUMNS } from './fee-invoices';
import { sealInvoiceParties } from './invoice-parties';

interface IssueNeeds {
  readonly db: Queryable;
  readonly sealer: Sealer;
}

/** Cuts the month before the day, if no period has it, and issues each cut that waits. No company: it only cuts. */
export async function issueDueInvoices({ db, sealer }: IssueNeeds, today: string): Promise<void> {
  await cutLastMonth(db, today);
  const company = await findCompany(db);
  if (company !== undefined) await issueWaiting({ db, sealer }, company);
}

/**
 * Cuts the last month that is over by the clock of PostgreSQL and by that of the caller: a clock that is ahead cuts
 * nothing. Months before it that were not cut are in the same period. A month that has its last cut keeps it.
 */
async function cutLastMonth(db: Queryable, today: string): Promise<void> {
  await db.query(
    `select cut_fee_period(last_month) from (
       select (date_trunc('month', least(booking_day(now()), $1::date)) - interval '1 month')::date as last_month
     ) wanted where last_month >= (select max(month) from fee_periods)`,
    [today],
  );
}

interface WaitingPeriod {
  readonly month: string;
  readonly part: number;
}

/** The cuts whose invoices are not issued, in their order. */
async function listWaiting(db: Queryable): Promise<WaitingPeriod[]> {
  const { rows } = await db.query<WaitingPeriod>(
    `select to_char(month, 'YYYY-MM-DD') as month, part from fee_periods
     where issued_at is null order by fee_periods.month, part`,
  );
  return rows;
}

/** How many postings a statement counts: it takes about two seconds, and a process that ends loses no more. */
const SLICE_POSTINGS = 100_000;

/** @returns the invoices that are new */
async function issueWaiting(needs: IssueNeeds, company: CompanyDetails): Promise<FeeInvoice[]> {
  const issued: FeeInvoice[] = [];
  for (const period of await listWaiting(needs.db)) {
    await countPostings(needs.db, period);
    const drafts = await draftInvoices(needs, period, company);
    const { rows } = await needs.db.query<FeeInvoice>(
      `select ${INVOICE_COLUMNS} from issue_fee_invoices($1, $2, $3) order by sequence`,
      [period.month, period.part, JSON.stringify(drafts)],
    );
    issued.push(...rows);
  }
  return issued;
}

/** Sums the postings of the period. A repeated call goes on where the one before ended. */
async function countPostings(db: Queryable, { month, part }: WaitingPeriod): Promise<void> {
  for (let isCounted = false; !isCounted;) {
    const { rows } = await db.query<{ isCounted: boolean }>('select count_fee_lines($1, $2, $3) as "isCounted"', [
      month,
      part,
      SLICE_POSTINGS,
    ]);
    ({ isCounted } = onlyRow(rows));
  }
}

/** The parties of each merchant with postings in the period. */
async function draftInvoices(
  needs: IssueNeeds,
  { month, part }: WaitingPeriod,
  company: CompanyDetails,
): Promise<{ readonly merchantId: string; readonly id: string; readonly sealedParties: string }[]> {
  const { rows } = await needs.db.query<{ merchantId: string }>(
    'select distinct merchant_id as "merchantId" from fee_period_lines where month = $1 and part = $2',
    [month, part],
  );
  const drafts = [];
  for (const { merchantId } of rows) {
    const id = uuidv7();
    drafts.push({ merchantId, id, sealedParties: await sealInvoiceParties(needs, { id, merchantId }, company) });
  }
  return drafts;
}

interface CutMonth {
  /** `2026-11`. */
  readonly month: string;
  /** A cut of it is not issued. */
  readonly isWaiting: boolean;
}

/** Repeats what the schedule does for a month, and in a sandbox issues the month that is not over. */
export const issueInvoices = new Operation({
  name: 'invoice.issue',
  operator: 'all',
  path: z.object({}),
  input: z.object({
    /** `2026-11`, in WIB; absent: the month before this one. */
    month: z
      .string()
      .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
      .optional(),
    /** Issues the month that is not over. */
    now: z.boolean().default(false),
  }),
  rejections: {
    no_company: {},
    only_in_sandbox: {},
    not_over: { month: z.string() },
    was_not_cut: { month: z.string() },
  },
  messages: {
    no_company: () => 'The company has no details, so it issues no invoices.',
    only_in_sandbox: () => 'A month that is not over is issued only in a sandbox.',
    not_over: ({ month }) => `Month ${month} is not over.`,
    was_not_cut: ({ month }) =>
      `Month ${month} has no invoices of its own: what was not invoiced then is in those of a later month.`,
  },
  load: async ({ db }: SealingDependencies) => ({
    environment: await findEnvironment(db),
    company: await findCompany(db),
    thisMonth: monthInWib(new Date()),
    cuts: await listCutMonths(db),
  }),
  target: ({ subject, input }) => monthOf(subject, input),
  allows({ environment, company, thisMonth, cuts }, _by, input) {
    if (company === undefined) return { reason: 'no_company' };
    if (input === undefined) return null;
    if (input.now) return environment === 'sandbox' ? null : { reason: 'only_in_sandbox' };
    const month = monthOf({ thisMonth }, input);
    const known = cuts.find((cut) => cut.month === month);
    if (month >= thisMonth && known?.isWaiting !== true) return { reason: 'not_over', month };
    return known === undefined && cuts.some((cut) => cut.month > month) ? { reason: 'was_not_cut', month } : null;
  },
  async perform({ needs: { db, loadSealer }, subject, input }) {
    const { company, thisMonth } = subject;
    if (company === undefined) return rejected({ reason: 'no_company' });
    const month = monthOf(subject, input);
    if (input.now || month < thisMonth) await db.query('select cut_fee_period($1)', [`${month}-01`]);
    return done(await issueWaiting({ db, sealer: await loadSealer() }, company));
  },
});

async function listCutMonths(db: Queryable): Promise<CutMonth[]> {
  const { rows } = await db.query<CutMonth>(
    `select to_char(month, 'YYYY-MM') as month, bool_or(issued_at is null) as "isWaiting" from fee_periods
     group by fee_periods.month`,
  );
  return rows;
}

function monthOf(
  { thisMonth }: { readonly thisMonth: string },
  { month, now }: { readonly month?: string | undefined; readonly now: boolean },
): string {
  return month ?? (now ? thisMonth : monthBefore(thisMonth));
}
