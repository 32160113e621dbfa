import { OPERATOR_STEPS, type OperatorStep } from '../domain/operator-steps';
import {
  ArchivedError,
  ConflictError,
  InvalidError,
  messageOf,
  NotFoundError,
  OrderIdError,
  type ConflictReason,
  type InputField,
  type ObjectKind,
} from '../errors';

/** Where to look if there is no such object, as the end of the sentence. */
const WHERE_TO_LOOK: Readonly<Record<ObjectKind, string>> = {
  approval: 'lunas approvals list shows them',
  approvalRule: 'lunas approvals rules shows those that can be set',
  bankAccount: 'lunas bank-accounts list shows them',
  delivery: 'lunas webhooks deliveries shows the newest',
  endpoint: 'lunas webhooks list shows them',
  exception: 'lunas exceptions list shows them',
  identity: 'lunas merchants identify sets the next one',
  invitation: 'lunas users list shows them',
  invoice: 'lunas invoices list shows them',
  key: "lunas keys list shows a merchant's keys",
  logo: 'lunas merchants list shows the merchants',
  merchant: 'lunas merchants list shows them',
  notice: 'the dashboard shows them',
  operator: 'lunas operators list shows them',
  passkey: 'its user may have removed it',
  payment: 'lunas payments list shows the newest',
  paymentLink: 'the dashboard shows them',
  payout: 'lunas payouts list shows them',
  policy: 'lunas catalog set creates one',
  providerAccount: 'lunas accounts list shows them, and lunas approvals list those that are proposed',
  recordedRequest: 'lunas logs shows them',
  session: 'its user may have signed out',
  user: 'lunas users list shows them',
};

/** What to do, as a sentence; `{name}` is a field of the error's data. */
const WHAT_TO_DO: Readonly<Partial<Record<ConflictReason, string>>> = {
  approval_required: 'lunas approvals approve {approvalId} --note "…" does so.',
  operator_exists: 'lunas operators list shows them.',
  operator_key_required: 'Set LUNAS_OPERATOR_KEY to your operator key.',
  endpoint_disabled: 'lunas webhooks enable {endpointId} comes first.',
  ledger_not_verified: 'Run lunas ledger verify first; it must find no breaks.',
  ledger_break: 'Run lunas ledger verify --all, and repair it first.',
  archive_payment_changed: 'Write that day again with lunas archive write, copy the new file, and remove that one.',
  name_not_confirmed: 'lunas bank-accounts show {accountId} has it: give it with --confirm-name "…".',
  record_behind_workflow: 'Run lunas recover.',
  not_recovered:
    'Run lunas recover and lunas reconcile until both exit with 0. If PostgreSQL has lost nothing, add --lost-nothing.',
  outcome_not_reached: 'lunas doctor shows what is broken.',
};

/** The option that is absent or wrong. */
const OPTION_TO_CHANGE: Readonly<Partial<Record<InputField, string>>> = {
  amount: 'Leave out --amount.',
  directory: 'Give a writable directory with --directory.',
  nmid: 'Add --nmid ID….',
};

/** A part of a text, and the command that an operator types for it. */
const STEP_COMMANDS: readonly (readonly [step: string, command: string])[] = Object.values({
  settle: [OPERATOR_STEPS.settle, 'lunas payments settle'],
  releaseMerchant: [OPERATOR_STEPS.releaseMerchant, 'lunas merchants release'],
  merchantOnHold: [OPERATOR_STEPS.merchantOnHold, 'lunas merchants release'],
  resolveRefund: [OPERATOR_STEPS.resolveRefund, 'lunas refunds'],
  failPayment: [OPERATOR_STEPS.failPayment, 'lunas payments fail'],
  reviewLatePayment: [OPERATOR_STEPS.reviewLatePayment, 'lunas exceptions list'],
  endRecoveryMode: [OPERATOR_STEPS.endRecoveryMode, 'lunas recovery end'],
  setUpTemporal: [OPERATOR_STEPS.setUpTemporal, 'lunas temporal setup'],
  recover: [OPERATOR_STEPS.recover, 'lunas recover'],
  approveMerchant: [OPERATOR_STEPS.approveMerchant, 'lunas merchants approve'],
  approvePayout: [OPERATOR_STEPS.approvePayout, 'lunas payouts approve'],
  startPayouts: [OPERATOR_STEPS.startPayouts, 'lunas payouts start'],
  enablePayoutsAccount: [OPERATOR_STEPS.enablePayoutsAccount, 'lunas accounts enable'],
  reactivateBankAccount: [OPERATOR_STEPS.reactivateBankAccount, 'lunas bank-accounts reactivate'],
} satisfies Record<OperatorStep, readonly [string, string]>);

const NO_IDENTITY = 'has no identity in force';

/** The hint for a request that waits, as the end of a sentence. */
export function howToApprove(approvalId: number): string {
  const hint = fill(WHAT_TO_DO.approval_required ?? '', { approvalId: String(approvalId) });
  return `a second operator has to approve request ${approvalId}. ${hint}`;
}

/** The message of an error, with what an operator types next. */
export function explainError(error: unknown): string {
  if (error instanceof ArchivedError)
    return `${error.message} See lunas archive show ${error.file} --payment ${error.id}.`;
  if (error instanceof OrderIdError) return error.message;
  if (error instanceof NotFoundError) return `${error.message.replace(/\.$/, '')}; ${WHERE_TO_LOOK[error.kind]}.`;
  return withCommands([messageOf(error), hintOf(error)].filter((text) => text !== undefined).join(' '));
}

/** The text with the command of each step that it asks of operators. */
export function withCommands(text: string): string {
  const known = text.replace(NO_IDENTITY, `${NO_IDENTITY}; use lunas merchants identify`);
  return STEP_COMMANDS.reduce((known, [step, command]) => known.replace(step, `${step} (${command})`), known);
}

function hintOf(error: unknown): string | undefined {
  if (error instanceof InvalidError) return OPTION_TO_CHANGE[error.field];
  if (!(error instanceof ConflictError)) return undefined;
  const hint = WHAT_TO_DO[error.reason];
  return hint === undefined ? undefined : fill(hint, error.data);
}

function fill(hint: string, data: Readonly<Record<string, string>>): string {
  return hint.replaceAll(/\{(\w+)\}/g, (_, name: string) => data[name] ?? name);
}
