import { paymentWorkflowId } from '../../workflows/ids';
import { formatRupiah } from '../domain/money';
import type { RetriedStep } from '../domain/retried-step';
import type { AuditedAction } from '../services/audit/list-actions';
import type { ExceptionRecord } from '../services/payments/exceptions';
import type {
  LatePayment,
  LedgerEntry,
  PaymentDetails,
  PaymentTransition,
  Refund,
} from '../services/payments/show-payment';
import type { PayoutRecord } from '../services/payouts/show-payout';
import type { PaymentDelivery } from '../services/webhooks/webhook-deliveries';
import { describeWait } from './describe-wait';
import { formatAge } from './duration';
import { withCommands } from './error-hints';
import { formatFields, formatTable } from './output';

const vatText = (vatRupiah: number) => (vatRupiah === 0 ? '' : `, of which VAT ${formatRupiah(vatRupiah)}`);

/** All details of a payment as text, by section. */
export function renderPayment(details: PaymentDetails): string {
  const { payment, transitions, ledger, refunds, latePayment } = details;
  const summary = formatFields({
    Payment: payment.id,
    Reference: payment.referenceId,
    "Merchant's reference": payment.merchantReferenceId,
    'Workflow id': paymentWorkflowId(payment.id),
    Merchant: payment.merchantId,
    Status: payment.failureReason === null ? payment.status : `${payment.status}: ${payment.failureReason}`,
    Customer: `pays ${formatRupiah(payment.totalRupiah)} by ${payment.provider}`,
    Fee: `${formatRupiah(payment.feeRupiah)}${vatText(payment.vatRupiah)}, borne by the ${payment.feePayer}`,
    Net: formatRupiah(payment.netRupiah),
    Created: payment.createdAt,
    Expires: payment.expiresAt,
    Paid: payment.paidAt,
    Settlement: `${payment.settlementKind}, due ${payment.settlementDueAt?.toISOString() ?? 'after it is paid'}`,
  });
  return [
    describeWait(details),
    summary,
    section('Transitions', formatTable(transitions.map(transitionRow), 'none')),
    section('Ledger', formatTable(ledger.map(ledgerRow), 'no entries')),
    section('Refunds', formatTable(refunds.map(refundRow), 'none')),
    ...(latePayment ? [section('Late payment', renderLatePayment(latePayment))] : []),
    ...followUpSections(details),
  ].join('\n\n');
}

/** What followed from the transitions of a payment or payout: exceptions, operators' actions, webhooks, workflow. */
export function followUpSections(details: PaymentDetails | PayoutRecord): string[] {
  const { exceptions, actions, deliveries, workflow } = details;
  return [
    ...(exceptions.length > 0 ? [section('Exceptions', renderExceptions(exceptions))] : []),
    ...(actions.length > 0 ? [section('Operators', formatTable(actions.map(actionRow), ''))] : []),
    section('Webhooks', formatTable(deliveries.map(deliveryRow), 'none')),
    renderWorkflow(workflow),
  ];
}

function transitionRow(transition: PaymentTransition) {
  return {
    VERSION: transition.version,
    AT: transition.occurredAt,
    TRANSITION: transition.name,
    FROM: transition.fromStatus,
    TO: transition.toStatus,
    BY: transition.actor,
    NOTE: transition.note,
    REQUEST: transition.requestId,
  };
}

export function ledgerRow({ version, latePaymentStep, occurredAt, side, account, amountRupiah }: LedgerEntry) {
  const amount = formatRupiah(amountRupiah);
  return {
    VERSION: version ?? `late: ${latePaymentStep}`,
    AT: occurredAt,
    ACCOUNT: account,
    DEBIT: side === 'debit' ? amount : null,
    CREDIT: side === 'credit' ? amount : null,
  };
}

function refundRow(refund: Refund) {
  return {
    NUMBER: refund.number,
    KEY: refund.refundKey,
    STATUS: refund.status,
    REQUESTED: refund.requestedAt,
    SUBMITTED: refund.status === 'held' ? `held until ${refund.submitAt.toISOString()}` : refund.submittedAt,
    FINISHED: refund.finishedAt,
    "PROVIDER'S REFERENCE": refund.providerReference,
    REASON: refund.failureReason,
  };
}

/** With the command that closes each open one. */
function renderExceptions(exceptions: readonly ExceptionRecord[]): string {
  const open = exceptions.filter(({ resolvedAt }) => resolvedAt === null);
  const commands = open.map(
    ({ id }) => `Closes it after its cause is repaired: lunas exceptions resolve ${id} --note "…"`,
  );
  return [formatTable(exceptions.map(exceptionRow), ''), ...commands].join('\n');
}

function exceptionRow(exception: ExceptionRecord) {
  return {
    ID: exception.id,
    OPENED: exception.openedAt,
    KIND: exception.kind,
    DETAIL: exception.detail,
    RESOLVED: exception.resolvedAt,
    BY: exception.resolvedBy,
    NOTE: exception.note,
  };
}

function actionRow({ requestedAt, actor, action, note, outcome, detail }: AuditedAction) {
  return { AT: requestedAt, BY: actor, ACTION: action, NOTE: note, OUTCOME: outcome, DETAIL: detail };
}

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

function deliveryRow(delivery: PaymentDelivery) {
  const last = delivery.attempts.at(-1);
  return {
    ID: delivery.id,
    EVENT: delivery.event,
    STATUS: delivery.status,
    ATTEMPTS: delivery.attempts.length,
    'LAST RESPONSE': delivery.deadReason ?? last?.failure ?? last?.statusCode,
    URL: delivery.url,
  };
}

function renderWorkflow(workflow: (PaymentDetails | PayoutRecord)['workflow']): string {
  if (workflow === null) return formatFields({ Workflow: 'none' });
  if ('error' in workflow) return section('Workflow', formatFields({ 'No response': workflow.error }));
  if ('closedAt' in workflow) {
    const state = workflow.state.replaceAll('_', ' ');
    return formatFields({ Workflow: `${state} ${formatAge(Date.now() - workflow.closedAt.getTime())} ago` });
  }
  const status = {
    Status: `${workflow.status ?? 'without a row'}, version ${workflow.version}`,
    'Waiting for': workflow.waitingFor && withCommands(workflow.waitingFor),
    'Needs attention': workflow.attentionReason && withCommands(workflow.attentionReason),
    ...(workflow.retriedStep && retriedStepFields(workflow.retriedStep)),
  };
  return section('Workflow', formatFields(status));
}

function retriedStepFields({ activity, attempt, failure, nextAttemptAt }: RetriedStep) {
  return {
    'Last failure': `${activity}, attempt ${attempt}: ${failure}`,
    'Next attempt': nextAttemptAt ?? 'runs now',
  };
}

export function section(title: string, body: string): string {
  return `${title}\n${body.replaceAll(/^/gm, '  ')}`;
}
