import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { formatRupiah } from '../../domain/money';
import { holdLostPayouts, type HeldPayouts } from '../../services/recovery/hold-lost-payouts';
import {
  RECOVER,
  recover,
  type RecoverOptions,
  type Recovery,
  type RecoveryCounts,
  type RecoveryReport,
} from '../../services/recovery/recover';
import type { RecoveryResult } from '../../services/recovery/recover-item';
import { RECOVER_ONE, recoverOne, type RecoveredOne } from '../../services/recovery/recover-one';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { timestamp } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import type { Terminal } from '../terminal';

const REPORT_INTERVAL = 1_000;

export function addRecoverCommand(program: LunasCommand): void {
  const input = z
    .object({
      paymentOrPayout: z.array(z.string()).default([]),
      since: timestamp.optional(),
      fromStart: z.boolean().default(false),
    })
    .refine(({ paymentOrPayout, since, fromStart }) => paymentOrPayout.length === 0 || !(since || fromStart), {
      error: 'takes either payments and payouts, or --since and --from-start',
    });
  program
    .command('recover [payment-or-payout...]')
    .description(
      'make PostgreSQL and Temporal consistent after one was lost or restored: rebuild lost workflows and rows',
    )
    .option(
      '--since <timestamp>',
      'look for lost rows in workflows started since then (default: one hour before the newest payment in PostgreSQL)',
    )
    .option('--from-start', 'begin with the first open payment, also if a recovery was stopped within the last hour')
    .examples('lunas recover LN0123456789ABCDEF', 'lunas recover', 'lunas recover --since 2026-01-31T09:00:00Z --json')
    .writeAction(
      input,
      ({ paymentOrPayout, since, fromStart }, audit, context, environment) =>
        withTemporal(context, audit.db, (workflows) => {
          const transitionContext = { db: audit.db, environment, onDeliveries: () => undefined };
          if (paymentOrPayout.length > 0) return recoverEach(transitionContext, workflows, audit, paymentOrPayout);
          return recoverAll(transitionContext, workflows, audit, {
            startedSince: since,
            fromStart,
            onProgress: progressReport(program.terminal),
          });
        }),
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

/** `12,000 of 8,600,000, 1,900/s, 75 min left`: to the thousand, as the payments open and close meanwhile. */
function progressReport({ stderr }: Terminal): (progress: RecoveryReport) => void {
  const startedAt = Date.now();
  return ({ done, doneBefore, openPayments }) => {
    if (done === doneBefore + 1 && doneBefore > 0) stderr.write(`goes on after ${grouped(doneBefore)} payments\n`);
    if (done % REPORT_INTERVAL !== 0) return;
    const perSecond = ((done - doneBefore) * 1_000) / Math.max(1, Date.now() - startedAt);
    const minutes = Math.ceil(Math.max(0, openPayments - done) / perSecond / 60);
    const total = grouped(Math.max(done, openPayments));
    stderr.write(`${grouped(done)} of ${total}, ${grouped(Math.round(perSecond))}/s, ${grouped(minutes)} min left\n`);
  };
}

const grouped = (count: number) => count.toLocaleString('en');

async function recoverAll(
  context: TransitionContext,
  workflows: PaymentWorkflowClient,
  audit: CommandAudit,
  options: RecoverOptions,
): Promise<CommandResult> {
  const { actor, db, log } = audit;
  return audit.recordResult(RECOVER, options.startedSince?.toISOString() ?? 'all', async () => {
    const recovery = await recover(context, workflows, options);
    return recoveryResult(recovery, await holdLostPayouts({ db, log, workflows }, actor, recovery.lostPayouts));
  });
}

/** Recovers these payments and payouts, one after the other. */
async function recoverEach(
  context: TransitionContext,
  workflows: PaymentWorkflowClient,
  audit: CommandAudit,
  idsOrReferences: readonly string[],
): Promise<CommandResult> {
  const { actor, db, log } = audit;
  const holdLost = async (payoutId: string) => {
    const { failures } = await holdLostPayouts({ db, log, workflows }, actor, [payoutId]);
    if (failures[0]) throw new Error(failures[0].reason);
  };
  const recovered: RecoveredOne[] = [];
  for (const subject of idsOrReferences) {
    const work = () => recoverOne({ context, workflows, holdLost }, subject);
    recovered.push(await audit.record(RECOVER_ONE, subject, work));
  }
  const rows = recovered.map(({ subject, result, deliveries, closedExceptions }) => ({
    'PAYMENT OR PAYOUT': subject,
    WORKFLOW: RESULT_TEXTS[result],
    'WEBHOOKS SENT AGAIN': deliveries,
    'EXCEPTIONS CLOSED': closedExceptions,
  }));
  return { json: { recovered }, text: formatTable(rows, '') };
}

const RESULT_TEXTS: Readonly<Record<RecoveryResult, string>> = {
  rebuilt: 'started again',
  notified: 'queries the provider now',
  running: 'nothing was lost',
};

function recoveryResult(recovery: Recovery, { held, failures: notHeld }: HeldPayouts): CommandResult {
  const failures = [...recovery.failures, ...notHeld];
  const counts = formatTable(
    [
      countsRow('rows of payments', recovery.rows),
      countsRow('payments', recovery.payments),
      countsRow('late payments', recovery.latePayments),
      countsRow('rows of payouts', recovery.payoutRows),
      countsRow('payouts', recovery.payouts),
      countsRow('webhook deliveries', recovery.deliveries),
    ],
    '',
  );
  const failureRows = failures.map(({ id, reason }) => ({ ID: id, REASON: reason }));
  const heldRows = held.map(({ referenceId, grossRupiah, merchantId }) => ({
    'LOST PAYOUT': referenceId,
    GROSS: formatRupiah(grossRupiah),
    'MERCHANT ON HOLD': merchantId,
  }));
  const tables = [counts, formatTable(failureRows, ''), formatTable(heldRows, '')];
  return {
    json: { recovery: { ...recovery, failures, held } },
    text: tables.filter((table) => table !== '').join('\n\n'),
    ...(failures.length > 0 && {
      failure: `${failures.length} items not recovered. Run the command again, or inspect them.`,
    }),
  };
}

function countsRow(name: string, { rebuilt, notified, running }: RecoveryCounts) {
  return { WHAT: name, REBUILT: rebuilt, NOTIFIED: notified, 'ALREADY RUNNING': running };
}
