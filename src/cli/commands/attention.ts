import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import {
  listAttention,
  type AttentionCase,
  type AttentionKind,
  type TemporalAttention,
} from '../../services/attention';
import { hasPayoutsAccount } from '../../services/provider-accounts/payouts-account';
import { withTemporal, type CommandContext } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { limit } from '../option-schemas';
import { formatTable } from '../output';

export function addAttentionCommand(program: LunasCommand): void {
  program
    .command('attention')
    .description('list everything that waits for an operator, the oldest first, each with its next command')
    .option('--limit <n>', 'maximum number', '50')
    .examples('lunas attention', 'lunas attention --json')
    .databaseAction(z.object({ limit }), async ({ limit }, db, context) => {
      const found = await listAttention(db, () => readTemporal(context, db, limit), limit);
      const cases = found.map(withNextCommand);
      const rows = cases.map(({ since, kind, next, detail, merchantId }) => ({
        SINCE: since,
        KIND: kind.replaceAll('_', ' '),
        NEXT: next,
        DETAIL: detail,
        MERCHANT: merchantId,
      }));
      return { json: { cases }, text: formatTable(rows, 'Nothing waits for an operator.') };
    });
}

function readTemporal(context: CommandContext, db: Queryable, limit: number): Promise<TemporalAttention> {
  return withTemporal(context, db, async ({ records }, client) => {
    // Imported on demand, like the rest of Temporal's client.
    const { listUnpolledTaskQueues } = await import('../../temporal/task-queue-polls.js');
    const { listWorkerVersions } = await import('../../temporal/worker-versions.js');
    const hasPayouts = await hasPayoutsAccount(db);
    const [workflows, versions, unpolled] = await Promise.all([
      records.listNeedingAttention(limit),
      listWorkerVersions(client, context.config.TEMPORAL_DEPLOYMENT_NAME),
      listUnpolledTaskQueues(client, hasPayouts),
    ]);
    return { workflows, versions, unpolled };
  });
}

type NextCommand = (found: AttentionCase) => string;

function withNextCommand(found: AttentionCase) {
  const { kind, subject, merchantId, since, detail } = found;
  return { kind, subject, merchantId, since, detail, next: NEXT_COMMANDS[kind](found) };
}

const NOTE = '--note "…"';
const showPayment: NextCommand = ({ subject }) => `lunas payments show ${subject}`;
const showPayout: NextCommand = ({ subject }) => `lunas payouts show ${subject}`;

const NEXT_COMMANDS: Readonly<Record<AttentionKind, NextCommand>> = {
  temporal: () => 'lunas temporal check',
  recovery_mode: () => 'lunas recovery status',
  ledger_breaks: () => 'lunas ledger verify',
  workflow: (found) => (found.subject?.startsWith('LP') ? showPayout : showPayment)(found),
  daily_run: ({ subject }) => `lunas runs repeat ${subject} ${NOTE}`,
  payment_overdue: showPayment,
  refund_failed: ({ subject }) => `lunas refunds retry ${subject} ${NOTE}`,
  refund_unconfirmed: showPayment,
  settlement_due: ({ merchantId }) => `lunas payments list --waiting-for-settlement --merchant ${merchantId}`,
  exception: ({ subject }) => `lunas exceptions resolve ${subject} ${NOTE}`,
  foreign_qris: showPayment,
  changed_amount: showPayment,
  approval: ({ subject }) => `lunas approvals approve ${subject} ${NOTE}`,
  merchant_pending: ({ subject }) => `lunas merchants approve ${subject} ${NOTE}`,
  merchant_on_hold: ({ subject }) => `lunas merchants release ${subject} ${NOTE}`,
  bank_account_to_approve: ({ subject }) => `lunas bank-accounts show ${subject} ${NOTE}`,
  bank_account_without_name: ({ subject }) => `lunas bank-accounts verify ${subject} ${NOTE}`,
  payouts_stopped: () => `lunas payouts start ${NOTE}`,
  payout_waiting_for_approval: ({ subject }) => `lunas payouts approve ${subject} ${NOTE}`,
  payout_deferred: showPayout,
  payout_not_sent: showPayout,
  payout_not_found: showPayout,
  payout_indeterminate: showPayout,
  payout_overdue: showPayout,
  payout_returned: showPayout,
  endpoint_failing: ({ subject }) => `lunas webhooks ping ${subject} ${NOTE}`,
  webhooks_dead: ({ merchantId }) => `lunas webhooks deliveries --status dead --merchant ${merchantId}`,
  worker: () => 'lunas doctor',
  worker_version: () => 'lunas temporal versions',
};
