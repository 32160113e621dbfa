import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { formatRupiah } from '../../domain/money';
import { requireDone } from '../../services/operations/require-done';
import type { RecoveryCounts, RecoveryReport } from '../../services/recovery/recover';
import type { RecoveryResult } from '../../services/recovery/recover-item';
import type { RecoveredOne } from '../../services/recovery/recover-one';
import {
  incompleteRecovery,
  recoverAll,
  recoverSubject,
  type RecoveryOfAll,
} from '../../services/recovery/run-recovery';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { timestamp } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';
import type { Terminal } from '../terminal';

const REPORT_INTERVAL = 1_000;

export function defineRecover(recover: LunasCommand): void {
  const input = z
    .object({
      paymentOrPayout: z.array(z.string()).default([]),
      since: timestamp.optional(),
      fromStart: z.boolean().default(false),
    })
    .refine(({ paymentOrPayout, since, fromStart }) => paymentOrPayout.length === 0 || !(since || fromStart), {
      error: 'takes either payments and payouts, or --since and --from-start',
    });
  recover
    .argument('[payment-or-payout...]')
    .option(
      '--since <timestamp>',
      'look for lost rows in workflows started since then (default: one hour before the newest payment in PostgreSQL)',
    )
    .option('--from-start', 'begin with the first open payment, also if a recovery was stopped within the last hour')
    .examples('lunas recover LN0123456789ABCDEF', 'lunas recover', 'lunas recover --since 2026-01-31T09:00:00Z --json')
    .writeAction(
      input,
      ({ paymentOrPayout, since, fromStart }, audit, context, environment) =>
        withTemporal(context, audit.db, async (workflows) => {
          const { db } = audit;
          const needs = { ...audit, workflows, context: { db, environment, onDeliveries: () => undefined } };
          if (paymentOrPayout.length === 0) {
            const input = { startedSince: since?.toISOString(), fromStart };
            const reporting = { ...needs, onProgress: progressReport(recover.terminal) };
            return recoveryResult(requireDone(await runOperation(audit, recoverAll, reporting, { path: {}, input })));
          }
          const recovered: RecoveredOne[] = [];
          for (const idOrReference of paymentOrPayout) {
            const call = { path: { idOrReference }, input: {} };
            recovered.push(requireDone(await runOperation(audit, recoverSubject, needs, call)));
          }
          return recoveredEach(recovered);
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

function recoveredEach(recovered: readonly RecoveredOne[]): CommandResult {
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

function recoveryResult(recovery: RecoveryOfAll): CommandResult {
  const { failures, held } = recovery;
  const failure = incompleteRecovery(recovery);
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
    json: { recovery },
    text: tables.filter((table) => table !== '').join('\n\n'),
    ...(failure !== null && { failure }),
  };
}

function countsRow(name: string, { rebuilt, notified, running }: RecoveryCounts) {
  return { WHAT: name, REBUILT: rebuilt, NOTIFIED: notified, 'ALREADY RUNNING': running };
}
