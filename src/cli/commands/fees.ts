import { z } from 'zod';
import { requireMerchant } from '../../db/merchants/require-merchant';
import {
  coverAllAmounts,
  FEE_CLASSES,
  fitClass,
  MAX_FEE_BANDS,
  PROPOSED_BANDS,
  SCHEDULE_CLASSES,
  type FeeBand,
} from '../../domain/fee-classes';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import { DEFAULT_PROVIDER, PROVIDERS } from '../../domain/provider-capabilities';
import { dayInWib, YEARS } from '../../domain/wib';
import { agreeFee } from '../../services/fees/agree-fee';
import {
  listFeeSchedules,
  listMerchantPrices,
  type FeeSchedule,
  type MerchantPrice,
} from '../../services/fees/fee-rates';
import { quoteFees, type FeeQuote } from '../../services/fees/quote-fees';
import { setFeeSchedules } from '../../services/fees/set-fee-schedules';
import { requireDone } from '../../services/operations/require-done';
import { withTemporalCalls, type CommandContext } from '../command-context';
import { collect, type LunasCommand } from '../lunas-command';
import { day, id, joinOptions, oneOf, timestamp, wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const MAX_QUOTES = 1_000;

/** `500001:30`: from this amount on, 30 basis points. */
const band = z
  .string()
  .regex(/^\d{1,8}:\d{1,5}$/, { error: 'must be FROM:BPS, such as 500001:30', abort: true })
  .transform((text): FeeBand => {
    const [fromRupiah = 0, basisPoints = 0] = text.split(':').map(Number);
    return { fromRupiah, basisPoints };
  })
  .refine(({ fromRupiah, basisPoints }) => fromRupiah <= MAX_TOTAL_RUPIAH && basisPoints <= 10_000, {
    error: `has at most ${MAX_TOTAL_RUPIAH}:10000`,
  });

/** A timestamp, or a day, which begins at 00:00 WIB. */
const dayOrTime = z
  .union([day.transform((text) => new Date(`${text}T00:00:00+07:00`)), z.string().regex(YEARS).pipe(timestamp)], {
    error: 'must be a day such as 2027-01-01, or a timestamp such as 2027-01-01T09:00:00+07:00',
  })
  .default(() => new Date());

export function defineFees(fees: LunasCommand): void {
  addSet(fees);
  addAgree(fees);
  addList(fees);
  addQuote(fees);
}

function addSet(fees: LunasCommand): void {
  const input = z
    .object({
      class: oneOf(SCHEDULE_CLASSES).optional(),
      band: z
        .array(band)
        .max(MAX_FEE_BANDS, `may be repeated at most ${MAX_FEE_BANDS} times`)
        .refine(coverAllAmounts, {
          error: 'must begin at 0 and ascend, such as --band 0:0 --band 500001:30',
          abort: true,
        })
        .optional(),
      proposal: z.boolean().default(false),
      validFrom: day,
    })
    .refine(
      ({ class: own, band: bands, proposal }) =>
        proposal ? (own ?? bands) === undefined : own !== undefined && bands !== undefined,
      { error: 'needs --class and --band, or only --proposal' },
    )
    .refine(({ class: own, band: bands }) => own === undefined || bands === undefined || fitClass(own, bands), {
      error: 'VAT has one band, such as --band 0:1100',
    });
  fees
    .command('set')
    .description(
      'set the rates of a class, or the VAT on fees, from a day in WIB on; in production a second operator approves ' +
        'the request',
    )
    .option('--class <class>', joinOptions(SCHEDULE_CLASSES))
    .option('--band <from:bps>', 'basis points of the amounts from this one on; repeat for each band', collect)
    .option('--proposal', 'the rates of all classes that docs/fees.md proposes')
    .requiredOption('--valid-from <day>', 'the first day in WIB; in production after today')
    .examples(
      'lunas fees set --class UMI --band 0:0 --band 500001:30 --valid-from 2027-01-01',
      'lunas fees set --proposal --valid-from 2027-01-01 --note "rates of 2027"',
      'lunas fees set --class VAT --band 0:1100 --valid-from 2027-01-01 --note "registered for VAT"',
    )
    .writeAction(input, async ({ class: own, band: bands, validFrom }, audit, context) => {
      const schedules =
        own !== undefined && bands !== undefined
          ? [{ class: own, bands: [...bands] }]
          : FEE_CLASSES.map((each) => ({ class: each, bands: [...PROPOSED_BANDS[each]] }));
      const call = { path: {}, input: { validFrom, schedules } };
      const needs = own === 'VAT' ? { ...audit, findOlderWorkers: () => findOlderWorkers(context) } : audit;
      const written = requireDone(await runOperation(audit, setFeeSchedules, needs, call));
      return { json: { schedules: written }, text: renderSchedules(written) };
    });
}

async function findOlderWorkers(context: CommandContext): Promise<string[]> {
  const { listWorkerVersions, olderRunningVersions } = await import('../../temporal/worker-versions.js');
  const { TEMPORAL_DEPLOYMENT_NAME: name } = context.config;
  return olderRunningVersions(await withTemporalCalls(context, (client) => listWorkerVersions(client, name)));
}

function addAgree(fees: LunasCommand): void {
  const input = z
    .object({
      merchantId: id,
      bps: wholeNumber(0, 10_000).optional(),
      flat: wholeNumber(0, MAX_TOTAL_RUPIAH).optional(),
      none: z.boolean().default(false),
      validFrom: day,
    })
    .refine(({ bps, flat, none }) => (none ? (bps ?? flat) === undefined : bps !== undefined), {
      error: 'needs --bps, or only --none',
    });
  fees
    .command('agree <merchant-id>')
    .description(
      'agree a price with a merchant from a day in WIB on; it counts if it is below the rate of its class; in ' +
        'production a second operator approves the request',
    )
    .option('--bps <n>', 'basis points of the amount')
    .option('--flat <rupiah>', 'added to the basis points (default: 0)')
    .option('--none', 'the agreement ends')
    .requiredOption('--valid-from <day>', 'the first day in WIB; in production after today')
    .examples(
      'lunas fees agree MERCHANT_ID --bps 50 --valid-from 2027-01-01 --note "contract 12"',
      'lunas fees agree MERCHANT_ID --none --valid-from 2027-07-01 --note "contract 12 ends"',
    )
    .writeAction(input, async ({ merchantId, bps, flat = 0, validFrom }, audit) => {
      const price = bps === undefined ? null : { basisPoints: bps, flatRupiah: flat };
      const call = { path: { merchant: merchantId }, input: { validFrom, price } };
      const written = requireDone(await runOperation(audit, agreeFee, audit, call));
      return { json: { price: written }, text: renderPrices([written]) };
    });
}

function addList(fees: LunasCommand): void {
  fees
    .command('list')
    .description('list the rates and the agreed prices in force, and later ones')
    .option('--at <time>', 'those in force then, and later ones (default: now)')
    .option('--merchant <merchant-id>', 'only the agreed prices of this merchant')
    .databaseAction(z.object({ at: dayOrTime, merchant: id.optional() }), async ({ at, merchant }, db) => {
      if (merchant !== undefined) await requireMerchant(db, merchant);
      const from = dayInWib(at);
      const schedules = await listFeeSchedules(db, from);
      const prices = await listMerchantPrices(db, from, merchant);
      return { json: { schedules, prices }, text: `${renderSchedules(schedules)}\n\n${renderPrices(prices)}` };
    });
}

function addQuote(fees: LunasCommand): void {
  const input = z.object({
    merchant: id,
    provider: oneOf(PROVIDERS).default(DEFAULT_PROVIDER),
    at: dayOrTime,
    amount: z.array(wholeNumber(1, MAX_TOTAL_RUPIAH)).max(MAX_QUOTES, `may be repeated at most ${MAX_QUOTES} times`),
  });
  fees
    .command('quote')
    .description('print what payments of a merchant would cost; writes nothing')
    .requiredOption('--merchant <merchant-id>', 'the merchant')
    .option('--provider <provider>', joinOptions(PROVIDERS), DEFAULT_PROVIDER)
    .option('--at <time>', 'with the rates of that day in WIB (default: now)')
    .requiredOption('--amount <rupiah>', 'the amount of a payment; repeat for more', collect)
    .examples('lunas fees quote --merchant MERCHANT_ID --amount 500000 --amount 500001 --at 2027-01-01')
    .databaseAction(input, async ({ merchant: merchantId, provider, at, amount: amounts }, db) =>
      quoteResult(await quoteFees(db, { merchantId, provider, at, amounts })),
    );
}

function quoteResult(quotes: readonly FeeQuote[]): CommandResult {
  const rows = quotes.map((quote) => {
    const amount = formatRupiah(quote.amount);
    if ('error' in quote)
      return { AMOUNT: amount, FEE: null, VAT: null, NET: null, TOTAL: null, RATE: quote.error, SINCE: null };
    const {
      feeAmount,
      vatAmount,
      netAmount,
      totalAmount,
      source,
      class: own,
      basisPoints,
      flatAmount,
      validFrom,
    } = quote;
    return {
      AMOUNT: amount,
      FEE: formatRupiah(feeAmount),
      VAT: formatRupiah(vatAmount),
      NET: formatRupiah(netAmount),
      TOTAL: formatRupiah(totalAmount),
      RATE: `${source === 'class' ? own : source}: ${rateText(basisPoints, flatAmount)}`,
      SINCE: validFrom,
    };
  });
  return { json: { quotes }, text: formatTable(rows, 'No amount was given.') };
}

const rateText = (basisPoints: number, flatRupiah: number) => `${basisPoints} bps + ${formatRupiah(flatRupiah)}`;

function renderSchedules(schedules: readonly FeeSchedule[]): string {
  const rows = schedules.map((schedule) => ({
    CLASS: schedule.class,
    VERSION: schedule.version,
    'VALID FROM': schedule.validFrom,
    BANDS: schedule.bands.map(({ fromRupiah, basisPoints }) => `from ${formatRupiah(fromRupiah)}: ${basisPoints} bps`),
  }));
  return formatTable(rows, 'No class has rates, so the catalog decides; see lunas fees set.');
}

function renderPrices(prices: readonly MerchantPrice[]): string {
  const rows = prices.map(({ merchantId, version, validFrom, basisPoints, flatRupiah }) => ({
    MERCHANT: merchantId,
    VERSION: version,
    'VALID FROM': validFrom,
    PRICE: basisPoints === null ? 'none' : rateText(basisPoints, flatRupiah ?? 0),
  }));
  return formatTable(rows, 'No price is agreed.');
}
