import { formatRupiah } from '../domain/money';
import type { AuditedAction } from '../operator/audit';
import type { ExceptionRecord } from '../operator/exceptions';
import type { LatePayment, LedgerEntry, PaymentDetails, PaymentTransition, Refund } from '../operator/show-payment';
import type { PaymentDelivery } from '../operator/webhook-deliveries';
import { formatFields, formatTable } from './output';

/** All details of a payment as text, by section. */
export function renderPayment(details: PaymentDetails): string {
  const { payment, transitions, ledger, refunds, latePayment, exceptions, actions, deliveries, workflow } = details;
  const summary = formatFields({
    Payment: payment.id,
    Reference: payment.referenceId,
    "Merchant's reference": payment.merchantReferenceId,
    Merchant: payment.merchantId,
    Status: payment.failureReason === null ? payment.status : `${payment.status}: ${payment.failureReason}`,
    Customer: `pays ${formatRupiah(payment.totalRupiah)} by ${payment.provider}`,
    Fee: `${formatRupiah(payment.feeRupiah)}, borne by the ${payment.feePayer}`,
    Net: formatRupiah(payment.netRupiah),
    Created: payment.createdAt,
    Expires: payment.expiresAt,
    Paid: payment.paidAt,
    Settlement: `${payment.settlementKind}, due ${payment.settlementDueAt?.toISOString() ?? 'after it is paid'}`,
  });
  return [
    summary,
    section('Transitions', formatTable(transitions, TRANSITION_COLUMNS, 'none')),
    section('Ledger', formatTable(ledger, LEDGER_COLUMNS, 'no entries')),
    section('Refunds', formatTable(refunds, REFUND_COLUMNS, 'none')),
    ...(latePayment ? [section('Late payment', renderLatePayment(latePayment))] : []),
    ...(exceptions.length > 0 ? [section('Exceptions', formatTable(exceptions, EXCEPTION_COLUMNS, ''))] : []),
    ...(actions.length > 0 ? [section('Operators', formatTable(actions, ACTION_COLUMNS, ''))] : []),
    section('Webhooks', formatTable(deliveries, DELIVERY_COLUMNS, 'none')),
    section('Workflow', renderWorkflow(workflow)),
  ].join('\n\n');
}

const TRANSITION_COLUMNS = {
  VERSION: (transition: PaymentTransition) => transition.version,
  AT: (transition: PaymentTransition) => transition.occurredAt,
  TRANSITION: (transition: PaymentTransition) => transition.name,
  FROM: (transition: PaymentTransition) => transition.fromStatus,
  TO: (transition: PaymentTransition) => transition.toStatus,
  BY: (transition: PaymentTransition) => transition.actor,
  NOTE: (transition: PaymentTransition) => transition.note,
};

const LEDGER_COLUMNS = {
  VERSION: (entry: LedgerEntry) => entry.version ?? `late: ${entry.latePaymentStep}`,
  AT: (entry: LedgerEntry) => entry.occurredAt,
  ACCOUNT: (entry: LedgerEntry) => entry.account,
  DEBIT: (entry: LedgerEntry) => (entry.side === 'debit' ? formatRupiah(entry.amountRupiah) : null),
  CREDIT: (entry: LedgerEntry) => (entry.side === 'credit' ? formatRupiah(entry.amountRupiah) : null),
};

const REFUND_COLUMNS = {
  NUMBER: (refund: Refund) => refund.number,
  KEY: (refund: Refund) => refund.refundKey,
  STATUS: (refund: Refund) => refund.status,
  REQUESTED: (refund: Refund) => refund.requestedAt,
  SUBMITTED: ({ status, submitAt, submittedAt }: Refund) =>
    status === 'held' ? `held until ${submitAt.toISOString()}` : submittedAt,
  FINISHED: (refund: Refund) => refund.finishedAt,
  "PROVIDER'S REFERENCE": (refund: Refund) => refund.providerReference,
  REASON: (refund: Refund) => refund.failureReason,
};

const EXCEPTION_COLUMNS = {
  ID: (exception: ExceptionRecord) => exception.id,
  OPENED: (exception: ExceptionRecord) => exception.openedAt,
  KIND: (exception: ExceptionRecord) => exception.kind,
  DETAIL: (exception: ExceptionRecord) => exception.detail,
  RESOLVED: (exception: ExceptionRecord) => exception.resolvedAt,
  BY: (exception: ExceptionRecord) => exception.resolvedBy,
  NOTE: (exception: ExceptionRecord) => exception.note,
};

const ACTION_COLUMNS = {
  AT: (action: AuditedAction) => action.requestedAt,
  BY: (action: AuditedAction) => action.actor,
  ACTION: (action: AuditedAction) => action.action,
  NOTE: (action: AuditedAction) => action.note,
  OUTCOME: (action: AuditedAction) => action.outcome,
  DETAIL: (action: AuditedAction) => action.detail,
};

function renderLatePayment(late: LatePayment): string {
  return formatFields({
    Status: late.failureReason === null ? late.status : `${late.status}: ${late.failureReason}`,
    Amount: formatRupiah(late.totalRupiah),
    Paid: late.paidAt,
    Received: late.receivedAt,
    'Refund key': late.refundKey,
    Submitted: late.submittedAt,
    Finished: late.finishedAt,
    "Provider's reference": late.providerReference,
  });
}

const DELIVERY_COLUMNS = {
  ID: (delivery: PaymentDelivery) => delivery.id,
  EVENT: (delivery: PaymentDelivery) => delivery.event,
  STATUS: (delivery: PaymentDelivery) => delivery.status,
  ATTEMPTS: (delivery: PaymentDelivery) => delivery.attempts.length,
  'LAST RESPONSE': (delivery: PaymentDelivery) => {
    const last = delivery.attempts.at(-1);
    return delivery.deadReason ?? last?.failure ?? last?.statusCode;
  },
  URL: (delivery: PaymentDelivery) => delivery.url,
};

function renderWorkflow(workflow: PaymentDetails['workflow']): string {
  if (workflow === null) return 'none';
  if ('error' in workflow) return formatFields({ 'No response': workflow.error });
  return formatFields({
    Status: `${workflow.status}, version ${workflow.version}`,
    'Waiting for': workflow.waitingFor,
    'Needs attention': workflow.attentionReason,
  });
}

function section(title: string, body: string): string {
  return `${title}\n${body.replaceAll(/^/gm, '  ')}`;
}
