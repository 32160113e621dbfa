import type { Queryable } from '../../db/connection/pool';
import {
  listOperatorPayoutSteps,
  sumPayoutLines,
  type Payout,
  type PayoutHistoryRow,
} from '../../db/payouts/list-payouts';
import type { BankStatusReport } from '../../domain/bank-payout';
import type { PaidLines } from '../../domain/payout-preview';
import type { PayoutClient, PayoutRunReport } from '../../temporal/payout-client';
import { listActions, type AuditedAction } from '../audit/list-actions';
import { listExceptionsOf, type ExceptionRecord } from '../payments/exceptions';
import { listLedgerEntries, toWorkflowError, type LedgerEntry, type WorkflowError } from '../payments/show-payment';
import { listDeliveriesOf, type PaymentDelivery } from '../webhooks/webhook-deliveries';
import { findPayout } from './payouts';

/** The record of a payout in PostgreSQL, and its workflow, for operators. */
export interface PayoutRecord {
  readonly payout: Payout;
  /** Oldest first. */
  readonly steps: readonly PayoutHistoryRow[];
  readonly ledger: readonly LedgerEntry[];
  /** What it has paid, by kind. */
  readonly lines: readonly PaidLines[];
  readonly exceptions: readonly ExceptionRecord[];
  /** The newest operator actions, rejected ones included. */
  readonly actions: readonly AuditedAction[];
  readonly deliveries: readonly PaymentDelivery[];
  /** What it reports, or how it closed; null if Temporal has no such workflow, `error` if it cannot be read. */
  readonly workflow: PayoutRunReport | WorkflowError | null;
  /** What the bank reports now; `error` if there is no report within 8 s. */
  readonly bank: BankStatusReport | WorkflowError;
}

const MAX_ACTIONS = 20;

/**
 * @param idOrReference of the payout
 * @throws NotFoundError if there is no such payout
 */
export async function showPayout(
  db: Queryable,
  workflows: Pick<PayoutClient, 'readRun' | 'readBankStatus'>,
  idOrReference: string,
): Promise<PayoutRecord> {
  const payout = await findPayout(db, null, idOrReference);
  const { id, referenceId, merchantId } = payout;
  const subject = { kind: 'payout', id } as const;
  const [steps, ledger, lines, exceptions, actions, deliveries, workflow, bank] = await Promise.all([
    listOperatorPayoutSteps(db, id),
    listLedgerEntries(db, subject),
    sumPayoutLines(db, id),
    listExceptionsOf(db, referenceId),
    listActions(db, { target: id, limit: MAX_ACTIONS }),
    listDeliveriesOf(db, subject),
    workflows.readRun(id).catch(toWorkflowError),
    workflows.readBankStatus({ payoutId: id, merchantId }).catch(toWorkflowError),
  ]);
  return { payout, steps, ledger, lines, exceptions, actions, deliveries, workflow, bank };
}
