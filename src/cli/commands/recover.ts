import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { formatRupiah } from '../../domain/money';
import { holdLostPayouts, type HeldPayouts } from '../../services/recovery/hold-lost-payouts';
import { RECOVER, recover, type Recovery, type RecoveryCounts } from '../../services/recovery/recover';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { timestamp } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';

const REPORT_INTERVAL = 1_000;

export function addRecoverCommand(program: LunasCommand): void {
  const onProgress = (done: number) => {
    if (done % REPORT_INTERVAL === 0) program.terminal.stderr.write(`${done} processed\n`);
  };
  program
    .command('recover')
    .description(
      'make PostgreSQL and Temporal consistent after one was lost or restored: rebuild lost workflows and rows',
    )
    .option(
      '--since <timestamp>',
      'look for lost rows in workflows started since then (default: one hour before the newest payment in PostgreSQL)',
    )
    .examples('lunas recover', 'lunas recover --since 2026-01-31T09:00:00Z --json')
    .writeAction(
      z.object({ since: timestamp.optional() }),
      ({ since }, audit, context, environment) =>
        withTemporal(context, audit.db, async (workflows) => {
          const { actor, db, log } = audit;
          const transitionContext = { db, environment, onDeliveries: () => undefined };
          const target = since?.toISOString() ?? 'all';
          return audit.recordResult(RECOVER, target, async () => {
            const recovery = await recover(transitionContext, workflows, { startedSince: since, onProgress });
            return recoveryResult(recovery, await holdLostPayouts({ db, log, workflows }, actor, recovery.lostPayouts));
          });
        }),
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

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
