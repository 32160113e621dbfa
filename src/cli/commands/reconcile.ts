import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { readRecoveryMode } from '../../db/operations/recovery-mode';
import { describeCoverage, type FoundBreak, type PartCoverage } from '../../domain/reconciliation';
import { createLogger } from '../../observability/logger';
import { createProviderRegistry } from '../../providers/registry';
import { requireDone } from '../../services/operations/require-done';
import {
  FULL_PERIOD_DAYS,
  incompleteReconciliation,
  reconcileNow,
  type Reconciliation,
} from '../../services/reconciliation/reconcile-all';
import { withTemporal } from '../command-context';
import { withCommands } from '../error-hints';
import type { LunasCommand } from '../lunas-command';
import { durationFrom } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

export function defineReconcile(reconcile: LunasCommand): void {
  reconcile
    .option('--since <duration>', 'compare final payments that changed in this period', `${FULL_PERIOD_DAYS}d`)
    .examples('lunas reconcile', 'lunas reconcile --since 30d --json')
    .writeAction(
      z.object({ since: durationFrom(1) }),
      ({ since }, audit, context) =>
        withTemporal(context, audit.db, async (workflows) => {
          const { db } = audit;
          const providers = createProviderRegistry({
            db,
            sealer: await context.sealer(db),
            publicBaseUrl: context.publicBaseUrl(),
            log: createLogger('cli', 'silent'),
          });
          try {
            const changedSince = new Date(Date.now() - since * 1_000).toISOString();
            const { isOn: isRecovering } = await readRecoveryMode(db);
            const report = (part: PartCoverage) =>
              reconcile.terminal.stderr.write(`${nameOf(part)}: ${describeCoverage(part)}\n`);
            const needs = { ...audit, providers, workflows, isRecovering, report };
            const call = { path: {}, input: { changedSince } };
            return reconciliationResult(requireDone(await runOperation(audit, reconcileNow, needs, call)));
          } finally {
            await providers.close();
          }
        }),
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

function reconciliationResult(reconciliation: Reconciliation): CommandResult {
  const { seen, compared, indeterminate, unasked, breakCount, breaks, changedSince, parts } = reconciliation;
  const coverage = describeCoverage({ seen, compared, indeterminate, unasked, breaks: breakCount });
  const failure = incompleteReconciliation(reconciliation);
  const text = [
    `${coverage}; final payments since ${changedSince.toISOString()}`,
    formatTable(parts.map(partRow), ''),
    formatTable(breaks.map(breakRow), 'No breaks found.'),
    ...(breaks.length < breakCount ? [`These are the first ${breaks.length}.`] : []),
  ];
  return {
    json: { reconciliation },
    text: text.join('\n\n'),
    ...(failure !== null && { failure }),
  };
}

function nameOf({ accountId }: PartCoverage): string {
  return accountId ?? 'late payments, deliveries, workflows';
}

function partRow(part: PartCoverage) {
  return {
    'PROVIDER ACCOUNT': nameOf(part),
    SEEN: part.seen,
    COMPARED: part.compared,
    INDETERMINATE: part.indeterminate,
    'NOT ASKED': part.unasked,
    BREAKS: part.breaks,
  };
}

function breakRow({ kind, referenceId, detail, isResolvedByStatusQuery }: FoundBreak) {
  const then = isResolvedByStatusQuery ? 'its workflow queries the provider' : 'see lunas exceptions list';
  return { KIND: kind, PAYMENT: referenceId, DETAIL: withCommands(detail), THEN: then };
}
