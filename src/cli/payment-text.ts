import { formatRupiah } from '../domain/money';
import type { LedgerEntry, PaymentDetails, PaymentTransition, WebhookDelivery } from '../operator/show-payment';
import { formatFields, formatTable } from './output';

/** A payment as an operator reads it, section by section. */
export function paymentText({ payment, transitions, ledger, deliveries, workflow }: PaymentDetails): string {
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
    Settlement: `${payment.settlementKind}, due ${payment.settlementDueAt?.toISOString() ?? 'once it is paid'}`,
  });
  return [
    summary,
    section('Transitions', formatTable(transitions, TRANSITION_COLUMNS, 'none')),
    section('Ledger', formatTable(ledger, LEDGER_COLUMNS, 'nothing booked')),
    section('Webhooks', formatTable(deliveries, DELIVERY_COLUMNS, 'none')),
    section('Workflow', workflowText(workflow)),
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
  VERSION: (entry: LedgerEntry) => entry.version,
  AT: (entry: LedgerEntry) => entry.occurredAt,
  ACCOUNT: (entry: LedgerEntry) => entry.account,
  DEBIT: (entry: LedgerEntry) => (entry.side === 'debit' ? formatRupiah(entry.amountRupiah) : null),
  CREDIT: (entry: LedgerEntry) => (entry.side === 'credit' ? formatRupiah(entry.amountRupiah) : null),
};

const DELIVERY_COLUMNS = {
  ID: (delivery: WebhookDelivery) => delivery.id,
  EVENT: (delivery: WebhookDelivery) => delivery.event,
  STATUS: (delivery: WebhookDelivery) => delivery.status,
  TRIES: (delivery: WebhookDelivery) => delivery.attempts.length,
  'LAST ANSWER': (delivery: WebhookDelivery) => {
    const last = delivery.attempts.at(-1);
    return delivery.deadReason ?? last?.failure ?? last?.statusCode;
  },
  URL: (delivery: WebhookDelivery) => delivery.url,
};

function workflowText(workflow: PaymentDetails['workflow']): string {
  if (workflow === null) return 'none';
  if ('error' in workflow) return formatFields({ 'No answer': workflow.error });
  return formatFields({
    Status: `${workflow.status}, version ${workflow.version}`,
    'Waiting for': workflow.waitingFor,
    Attention: workflow.attention,
  });
}

function section(title: string, body: string): string {
  return `${title}\n${body.replaceAll(/^/gm, '  ')}`;
}
