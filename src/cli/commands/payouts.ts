import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { requireMerchant } from '../../db/merchants/require-merchant';
import type { Payout } from '../../db/payouts/list-payouts';
import { describeAccount } from '../../domain/banks';
import { formatRupiah } from '../../domain/money';
import { PAYOUT_RESOLUTIONS } from '../../domain/payout-actions';
import { RAILS } from '../../domain/payout-rails';
import { PAYOUT_STATUSES } from '../../domain/payout-transitions';
import { UserError } from '../../errors';
import type { Operation } from '../../services/operations/operation';
import type { Call } from '../../services/operations/operation-spec';
import type { Reasons } from '../../services/operations/rejections';
import { requireDone } from '../../services/operations/require-done';
import type { PayoutActNeeds, payoutPath, seenVersion } from '../../services/payouts/act-on-payout';
import { approvePayout } from '../../services/payouts/approve-payout';
import { addBankHolidays, listBankHolidays } from '../../services/payouts/bank-holidays';
import { cancelPayout } from '../../services/payouts/cancel-payout';
import { createPayout } from '../../services/payouts/create-payout';
import { listAllPayouts, type OperatorPayout } from '../../services/payouts/list-all-payouts';
import { getPayoutLimits, setPayoutLimits, type PayoutLimits } from '../../services/payouts/payout-limits';
import { listPayoutPolicies, setPayoutPolicy, type PayoutPolicyVersion } from '../../services/payouts/payout-policies';
import { findPayoutStop, type PayoutStop } from '../../services/payouts/payout-stops';
import { resendPayout } from '../../services/payouts/resend-payout';
import { resolvePayout } from '../../services/payouts/resolve-payout';
import { showPayout } from '../../services/payouts/show-payout';
import { startPayouts } from '../../services/payouts/start-payouts';
import { stopPayouts } from '../../services/payouts/stop-payouts';
import { withTemporal, type CommandContext } from '../command-context';
import { formatDuration } from '../duration';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { day, durationFrom, id, joinOptions, limit, note, oneOf, textUpTo, wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { renderPayout } from '../render-payout';
import { runOperation } from '../run-operation';
import { explainTemporalError, UnknownOutcomeError } from '../temporal-error';

const MAX_TEXT_CHARACTERS = 200;
/** Larger amounts are typing errors. */
const MAX_RUPIAH = 1_000_000_000_000;

export function definePayouts(payouts: LunasCommand): void {
  addList(payouts);
  addShow(payouts);
  addCreate(payouts);
  addActions(payouts);
  addResolve(payouts);
  addStop(payouts);
  addSetLimit(payouts);
  addPolicies(payouts);
  addHolidays(payouts);
}

function addList(payouts: LunasCommand): void {
  const input = z.object({
    status: oneOf(PAYOUT_STATUSES).optional(),
    merchant: id.optional(),
    needsAttention: z.boolean().default(false),
    limit,
  });
  payouts
    .command('list')
    .description('list the newest payouts')
    .option('--status <status>', `only payouts with this status: ${joinOptions(PAYOUT_STATUSES)}`)
    .option('--merchant <merchant-id>', 'only payouts of one merchant')
    .option('--needs-attention', 'only open payouts that an operator should look at')
    .option('--limit <n>', 'maximum number', '20')
    .examples('lunas payouts list --needs-attention', 'lunas payouts list --merchant MERCHANT_ID --status failed')
    .databaseAction(input, async ({ merchant, status, needsAttention, limit }, db) => {
      if (merchant !== undefined) await requireMerchant(db, merchant);
      const filter = { merchantId: merchant ?? null, status: status ?? null, needsAttention, limit };
      const found = await listAllPayouts(db, filter);
      return { json: { payouts: found }, text: formatTable(found.map(payoutRow), 'No payouts.') };
    });
}

function payoutRow(payout: OperatorPayout) {
  return {
    REFERENCE: payout.referenceId,
    STATUS: payout.status,
    VERSION: payout.version,
    AMOUNT: formatRupiah(payout.amountRupiah),
    RAIL: payout.rail,
    ACCOUNT: describeAccount(payout.bankCode, payout.lastFour),
    ATTENTION: payout.attentionReason?.replaceAll('_', ' '),
    REQUESTED: payout.requestedAt,
    MERCHANT: payout.merchantId,
  };
}

function addShow(payouts: LunasCommand): void {
  payouts
    .command('show <payout>')
    .description(
      'show a payout by its id or its reference: what it waits for, row, transitions, ledger, what it pays, operator ' +
        "actions, webhooks, workflow, and the bank's status now",
    )
    .examples('lunas payouts show LP0123456789ABCDEF')
    .databaseAction(z.object({ payout: z.string() }), async ({ payout }, db, context) => {
      const details = await showPayout(
        db,
        {
          readRun: (payoutId) => withTemporal(context, db, ({ payouts }) => payouts.readRun(payoutId)),
          readBankStatus: (key) => withTemporal(context, db, ({ payouts }) => payouts.readBankStatus(key)),
        },
        payout,
      );
      return { json: { ...details }, text: renderPayout(details) };
    });
}

function addCreate(payouts: LunasCommand): void {
  payouts
    .command('create')
    .description("request a payout of a merchant's whole balance; an operator approves it")
    .requiredOption('--merchant <merchant-id>', 'the merchant')
    .option('--key <key>', 'the same key is the same payout, however often it is requested (default: a new one)')
    .examples('lunas payouts create --merchant MERCHANT_ID --key 2026-01-31 --note "the shop closes"')
    .writeAction(
      z.object({ merchant: id, key: textUpTo(MAX_TEXT_CHARACTERS).optional() }),
      async ({ merchant, key = randomUUID() }, audit, context) => {
        const { db, log } = audit;
        const call = { path: { merchant }, input: { key } };
        const payout = await withTemporal(context, db, async (workflows) =>
          requireDone(await runOperation(audit, createPayout, { db, log, workflows }, call)),
        ).catch(async (error: unknown) => {
          const explained = await explainTemporalError(error);
          // With another key the repeat would be another payout.
          throw explained instanceof UnknownOutcomeError
            ? new UserError(`${explained.message} Use --key ${key}.`)
            : error;
        });
        const text = `${payout.referenceId} of ${formatRupiah(payout.amountRupiah)} is ${payout.status}, key ${key}.`;
        return { json: { payout, key }, text };
      },
    );
}

function addActions(payouts: LunasCommand): void {
  addAction(
    payouts,
    approvePayout,
    'approve a payout that waits for an operator; in production a second operator approves the request',
  );
  addAction(payouts, cancelPayout, 'cancel a payout that was not sent to the bank: its money is in the balance again');
  addAction(
    payouts,
    resendPayout,
    'send a payout again that the bank does not know, with the same reference; in production as approve',
  );
}

type PayoutOperation<Input extends z.ZodObject, R extends Reasons, Subject> = Operation<
  `payout.${string}`,
  typeof payoutPath,
  Input,
  R,
  PayoutActNeeds,
  Subject,
  Payout
>;

function addAction<R extends Reasons, Subject>(
  payouts: LunasCommand,
  operation: PayoutOperation<typeof seenVersion, R, Subject>,
  about: string,
): void {
  const action = operation.name.replace('payout.', '');
  payouts
    .command(`${action} <payout>`)
    .description(about)
    .requiredOption('--note <text>', 'why; the history of the payout has it')
    .examples(`lunas payouts ${action} LP0123456789ABCDEF --note "ticket 4711"`)
    .writeAction(z.object({ payout: z.string(), note }), ({ payout }, audit, context) =>
      actOn(operation, { path: { payout }, input: {} }, audit, context),
    );
}

function addResolve(payouts: LunasCommand): void {
  const input = z.object({
    payout: z.string(),
    as: oneOf(PAYOUT_RESOLUTIONS),
    evidence: textUpTo(MAX_TEXT_CHARACTERS),
  });
  payouts
    .command('resolve <payout>')
    .description("record what another source than the bank's status proves; in production as approve")
    .requiredOption('--as <status>', joinOptions(PAYOUT_RESOLUTIONS))
    .requiredOption('--evidence <text>', 'a line of the bank statement, or a ticket of the bank; the merchant sees it')
    .examples(
      'lunas payouts resolve LP0123456789ABCDEF --as completed --evidence "bank statement 31 January, line 12"',
      'lunas payouts resolve LP0123456789ABCDEF --as returned --evidence "bank ticket 4711"',
    )
    .writeAction(input, ({ payout, as: resolution, evidence }, audit, context) =>
      actOn(resolvePayout, { path: { payout }, input: { resolution, evidence } }, audit, context),
    );
}

async function actOn<Input extends z.ZodObject, R extends Reasons, Subject>(
  operation: PayoutOperation<Input, R, Subject>,
  call: Pick<Call<typeof payoutPath, Input>, 'path' | 'input'>,
  audit: CommandAudit,
  context: CommandContext,
): Promise<CommandResult> {
  const { db, log } = audit;
  const { payout, isRepeat } = await withTemporal(context, db, async (workflows) => {
    const result = await runOperation(audit, operation, { db, log, workflows }, call);
    return { payout: requireDone(result), isRepeat: result.outcome === 'done' && result.isRepeat };
  });
  const text = `${payout.referenceId} (${payout.id}) is ${payout.status}`;
  return { json: { payout, isRepeat }, text: isRepeat ? `${text}: the action was executed before.` : `${text}.` };
}

function addStop(payouts: LunasCommand): void {
  payouts
    .command('stop')
    .description('stop all payouts: none is requested, and none is sent to the bank')
    .requiredOption('--note <text>', 'why')
    .examples('lunas payouts stop --note "the bank reports a breach, ticket 4711"')
    .writeAction(z.object({ note }), async (_, audit) => {
      const { wasStopped } = requireDone(await runOperation(audit, stopPayouts, audit, { path: {}, input: {} }));
      const already =
        'Payouts were stopped already. The new note is recorded, and an open request to start them fails.';
      const text = wasStopped ? already : 'Payouts are stopped. What the bank has goes on.';
      return { json: { isStopped: true }, text };
    });
  payouts
    .command('start')
    .description('start payouts again; in production a second operator approves the request')
    .requiredOption('--note <text>', 'why')
    .writeAction(z.object({ note }), async (_, audit) => {
      requireDone(await runOperation(audit, startPayouts, audit, { path: {}, input: {} }));
      return { json: { isStopped: false }, text: 'Payouts are started. Those that waited are sent within 30 seconds.' };
    });
}

function addSetLimit(payouts: LunasCommand): void {
  const input = z
    .object({
      rupiah: wholeNumber(0, MAX_RUPIAH).optional(),
      cooldown: durationFrom(0).optional(),
      notFound: durationFrom(0).optional(),
    })
    .refine((limits) => Object.values(limits).some((value) => value !== undefined), {
      error: 'takes an amount, --cooldown or --not-found',
    });
  payouts
    .command('set-limit [rupiah]')
    .description(
      "an operator approves a merchant's payouts of a WIB day above it (initially 100000000); in production a second " +
        'operator approves the change',
    )
    .option('--cooldown <duration>', 'how long a new bank account receives nothing (initially 1d, the least)')
    .option('--not-found <duration>', 'how long the bank may still receive a payout that it does not know (likewise)')
    .examples('lunas payouts set-limit 50000000', 'lunas payouts set-limit --cooldown 2d')
    .writeAction(input, async ({ rupiah, cooldown, notFound }, audit) => {
      const change = { day_limit_rupiah: rupiah, cooldown_seconds: cooldown, not_found_seconds: notFound };
      const limits = requireDone(await runOperation(audit, setPayoutLimits, audit, { path: {}, input: change }));
      return { json: { limits }, text: renderLimits(limits) };
    });
}

function renderLimits(limits: PayoutLimits): string {
  const dayLimit = `Above ${formatRupiah(limits.day_limit_rupiah)} a day, an operator approves a merchant's payouts.`;
  const cooldown = `A new bank account receives nothing for ${formatDuration(limits.cooldown_seconds)}.`;
  const notFound = `A payout that the bank does not know may arrive for ${formatDuration(limits.not_found_seconds)}.`;
  return [dayLimit, cooldown, notFound].join('\n');
}

function addPolicies(payouts: LunasCommand): void {
  const policies = payouts.command('policies').description('fees, limits and windows of the rails');
  policies
    .command('list')
    .description('list the policies and limits in force, and whether payouts are stopped')
    .databaseAction(z.object({}), async (_, db) => {
      const [found, limits, stop] = await Promise.all([
        listPayoutPolicies(db),
        getPayoutLimits(db),
        findPayoutStop(db),
      ]);
      const text = [renderPolicies(found), renderLimits(limits), ...(stop ? [renderStop(stop)] : [])].join('\n\n');
      return { json: { policies: found, limits, stop }, text };
    });
  addSetPolicy(policies);
}

function renderStop({ stoppedBy, stoppedAt, note }: PayoutStop): string {
  return `Payouts are stopped since ${stoppedAt.toISOString()} by ${stoppedBy}: ${note}`;
}

const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time such as 08:00, at most 24:00')
  .transform((text) => `${text}:00`);

function addSetPolicy(policies: LunasCommand): void {
  const amount = wholeNumber(0, MAX_RUPIAH);
  const input = z.object({
    rail: oneOf(RAILS),
    fee: amount.optional(),
    min: wholeNumber(1, MAX_RUPIAH).optional(),
    max: z.union([z.literal('none').transform(() => null), amount]).optional(),
    opens: time.optional(),
    closes: time.optional(),
    days: oneOf(['every', 'working']).optional(),
    expectedWithin: durationFrom(1).optional(),
    use: oneOf(['yes', 'no']).optional(),
  });
  policies
    .command('set')
    .description(
      'write a new version of a policy; absent options keep their values, payouts keep their version; in production ' +
        'a second operator approves the request',
    )
    .requiredOption('--rail <rail>', joinOptions(RAILS))
    .option('--fee <rupiah>', 'of each payout, part of what leaves the balance')
    .option('--min <rupiah>', 'the least amount that is sent')
    .option('--max <rupiah>', 'the greatest amount, or none')
    .option('--opens <time>', 'when the bank takes payouts, in WIB')
    .option('--closes <time>', 'until when; 24:00: it does not close')
    .option('--days <days>', 'every or working: without Saturdays, Sundays and holidays')
    .option('--expected-within <duration>', 'an operator should look at a payout that takes longer')
    .option('--use <yes|no>', 'whether payouts use this rail')
    .examples('lunas payouts policies set --rail skn --closes 15:00 --use yes')
    .writeAction(input, async ({ rail, use, ...terms }, audit) => {
      const change = {
        fee_rupiah: terms.fee,
        min_rupiah: terms.min,
        max_rupiah: terms.max,
        opens_at: terms.opens,
        closes_at: terms.closes,
        days: terms.days,
        expected_within_seconds: terms.expectedWithin,
        is_enabled: use === undefined ? undefined : use === 'yes',
      };
      const policy = requireDone(await runOperation(audit, setPayoutPolicy, audit, { path: { rail }, input: change }));
      return { json: { policy }, text: renderPolicies([policy]) };
    });
}

function renderPolicies(policies: readonly PayoutPolicyVersion[]): string {
  const rows = policies.map((policy) => ({
    RAIL: policy.rail,
    VERSION: policy.version,
    'IN USE': policy.is_enabled ? 'yes' : 'no',
    FEE: formatRupiah(policy.fee_rupiah),
    LEAST: formatRupiah(policy.min_rupiah),
    GREATEST: policy.max_rupiah === null ? 'no limit' : formatRupiah(policy.max_rupiah),
    DAYS: policy.days,
    'WINDOW (WIB)': `${policy.opens_at.slice(0, 5)}–${policy.closes_at.slice(0, 5)}`,
    'EXPECTED WITHIN': formatDuration(policy.expected_within_seconds),
  }));
  return formatTable(rows, 'There is no policy.');
}

function addHolidays(payouts: LunasCommand): void {
  const holidays = payouts
    .command('holidays')
    .description('days besides Saturdays and Sundays on which banks do not work');
  holidays
    .command('list')
    .description('list the holidays from today on')
    .databaseAction(z.object({}), async (_, db) => {
      const days = await listBankHolidays(db);
      return { json: { days }, text: days.length === 0 ? 'There is no holiday.' : days.join('\n') };
    });
  holidays
    .command('add <day...>')
    .description('add holidays; known ones are kept')
    .examples('lunas payouts holidays add 2027-01-01 2027-02-06')
    .writeAction(z.object({ day: z.array(day) }), async ({ day: days }, audit) => {
      requireDone(await runOperation(audit, addBankHolidays, audit, { path: {}, input: { days } }));
      return { json: { days }, text: `${days.length} added.` };
    });
}
