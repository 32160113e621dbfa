import type { ExceptionCause, ExceptionKind } from '../domain/exception-kinds';
import { CASES_OF_KIND, type AttentionCase, type AttentionKind, type AttentionRow } from '../services/attention';

type NextCommand = (found: AttentionCase) => string;

interface Kind {
  readonly next: NextCommand;
  /** For several cases of one cause; else the command for the oldest. */
  readonly nextOfSeveral?: (row: AttentionRow) => string;
  /** The case ends by itself, or a merchant ends it. */
  readonly needsNoPerson?: true;
}

const NOTE = '--note "…"';

/** From so many on, an account that fails is the case, and not each payment. */
const MANY = 5;

const showOf = (reference: string | null) =>
  reference?.startsWith('LP') ? `lunas payouts show ${reference}` : `lunas payments show ${reference}`;
const showSubject: NextCommand = ({ subject }) => showOf(subject);
const showAbout: NextCommand = ({ about }) => showOf(about);
const resolve: NextCommand = ({ subject }) => `lunas exceptions resolve ${subject} ${NOTE}`;
const recoverAbout: NextCommand = ({ about }) => `lunas recover ${about} ${NOTE}`;
const identify: NextCommand = ({ subject }) => `lunas merchants identify ${subject} --file FILE ${NOTE}`;
const listPayouts = () => 'lunas payouts list --needs-attention';

/** A recovery of the few payments, or of everything. */
const recoverSeveral = ({ count, firstCases }: AttentionRow) => {
  const references = firstCases.map(({ about, subject }) => about ?? subject);
  return count > references.length ? `lunas recover ${NOTE}` : `lunas recover ${references.join(' ')} ${NOTE}`;
};

type ExceptionCase = ExceptionKind | `reconciliation ${ExceptionCause}`;

/** What repairs the cause. An exception is resolved by hand only where nothing else is left to do in Lunas. */
const EXCEPTIONS: Readonly<Partial<Record<string, Kind>>> = {
  'reconciliation lost': { next: recoverAbout, nextOfSeveral: recoverSeveral },
  'reconciliation overdue': { next: recoverAbout, nextOfSeveral: recoverSeveral },
  'reconciliation failed_run': { next: () => `lunas reconcile ${NOTE}` },
  unknown_order: { next: resolve, nextOfSeveral: () => 'lunas exceptions list' },
  unknown_payout: { next: resolve, nextOfSeveral: () => 'lunas exceptions list' },
  lost_payout: { next: resolve, nextOfSeveral: () => 'lunas exceptions list' },
} satisfies Partial<Record<ExceptionCase, Kind>>;

/** The page for what a person has to find out first, by the kind of a case or of its exception. */
const PAGES: Readonly<Partial<Record<string, string>>> = {
  postgresql: 'docs/operations/postgresql-down.md',
  temporal: 'docs/operations/temporal-down.md',
  worker: 'docs/operations/backlog.md',
  recovery_mode: 'docs/operations/postgresql-restored.md',
  ledger_breaks: 'docs/operations/alerts.md',
  role_missing: 'docs/operations/alerts.md',
  audit_breaks: 'docs/operations/insider.md',
  unknown_order: 'docs/operations/forged-notifications.md',
  unknown_payout: 'docs/operations/payouts.md',
  payout_conflict: 'docs/operations/payouts.md',
  payout_amount: 'docs/operations/payouts.md',
  payout_source_balance: 'docs/operations/payouts.md',
  lost_payout: 'docs/operations/postgresql-restored.md',
} satisfies Partial<Record<ExceptionKind | AttentionKind, string>>;

const KINDS: Readonly<Record<AttentionKind, Kind>> = {
  postgresql: { next: () => 'lunas doctor' },
  temporal: { next: () => 'lunas temporal check' },
  recovery_mode: { next: () => 'lunas recovery status' },
  ledger_breaks: { next: () => 'lunas ledger verify' },
  audit_breaks: { next: () => `lunas runs repeat audit_verification ${NOTE}` },
  workflow: { next: showSubject, nextOfSeveral: nextOfWorkflows },
  daily_run: { next: ({ subject }) => `lunas runs repeat ${subject} ${NOTE}` },
  role_missing: { next: () => 'lunas doctor' },
  payment_overdue: { next: ({ subject }) => `lunas recover ${subject} ${NOTE}`, nextOfSeveral: recoverSeveral },
  refund_failed: {
    next: ({ subject }) => `lunas refunds retry ${subject} ${NOTE}`,
    nextOfSeveral: () => 'lunas refunds list',
  },
  refund_unconfirmed: { next: showSubject, nextOfSeveral: () => 'lunas refunds list', needsNoPerson: true },
  settlement_due: {
    next: ({ merchantId }) => `lunas payments list --waiting-for-settlement --merchant ${merchantId}`,
    nextOfSeveral: () => 'lunas payments list --waiting-for-settlement',
  },
  exception: { next: showAbout, nextOfSeveral: () => 'lunas exceptions list' },
  foreign_qris: { next: showSubject },
  changed_amount: { next: showSubject },
  approval: {
    next: ({ subject }) => `lunas approvals approve ${subject} ${NOTE}`,
    nextOfSeveral: () => 'lunas approvals list',
  },
  merchant_pending: {
    next: ({ subject }) => `lunas merchants approve ${subject} ${NOTE}`,
    nextOfSeveral: () => 'lunas merchants list',
  },
  merchant_on_hold: {
    next: ({ subject }) => `lunas merchants release ${subject} ${NOTE}`,
    nextOfSeveral: () => 'lunas merchants list',
  },
  merchant_unidentified: { next: identify, nextOfSeveral: () => 'lunas merchants list' },
  identity_expiring: { next: identify },
  company_missing: { next: () => `lunas company set --file FILE ${NOTE}` },
  invoices_not_issued: { next: ({ subject }) => `lunas invoices issue --month ${subject} ${NOTE}` },
  bank_account_to_approve: {
    next: ({ subject }) => `lunas bank-accounts show ${subject} ${NOTE}`,
    nextOfSeveral: () => 'lunas bank-accounts list --waiting',
  },
  bank_account_without_name: { next: ({ subject }) => `lunas bank-accounts verify ${subject} ${NOTE}` },
  payouts_stopped: { next: () => `lunas payouts start ${NOTE}` },
  account_disabled: { next: ({ subject }) => `lunas accounts enable ${subject} ${NOTE}` },
  payout_waiting_for_approval: {
    next: ({ subject }) => `lunas payouts approve ${subject} ${NOTE}`,
    nextOfSeveral: listPayouts,
  },
  payout_deferred: { next: showSubject, nextOfSeveral: listPayouts },
  payout_not_sent: { next: showSubject, nextOfSeveral: listPayouts },
  payout_not_found: { next: showSubject, nextOfSeveral: listPayouts },
  payout_indeterminate: { next: showSubject, nextOfSeveral: listPayouts },
  payout_overdue: { next: showSubject, nextOfSeveral: listPayouts },
  payout_returned: { next: showSubject, nextOfSeveral: () => 'lunas payouts list --status returned' },
  endpoint_failing: {
    next: ({ subject }) => `lunas webhooks ping ${subject} ${NOTE}`,
    nextOfSeveral: () => 'lunas webhooks list',
    needsNoPerson: true,
  },
  webhooks_dead: {
    next: ({ merchantId }) => `lunas webhooks deliveries --status dead --merchant ${merchantId}`,
    nextOfSeveral: () => 'lunas webhooks deliveries --status dead',
    needsNoPerson: true,
  },
  worker: { next: () => 'lunas doctor' },
  worker_version: { next: () => 'lunas temporal versions', needsNoPerson: true },
};

function nextOfWorkflows(row: AttentionRow): string {
  const { subject, about, count } = row;
  if (subject?.startsWith('LP')) return listPayouts();
  return about !== null && count >= MANY ? `lunas accounts disable ${about} ${NOTE}` : showOf(subject);
}

function kindOf({ kind, cause }: AttentionCase): Kind {
  return (kind === 'exception' && EXCEPTIONS[cause ?? '']) || KINDS[kind];
}

/** The page of the runbook for a case; null if its command needs none. */
export function pageOf({ kind, cause }: AttentionCase): string | null {
  return PAGES[kind === 'exception' ? (cause ?? '') : kind] ?? null;
}

/** The command for one case. */
export function nextOf(found: AttentionCase): string {
  return kindOf(found).next(found);
}

/** The command for a row. */
export function nextOfRow(row: AttentionRow): string {
  const { nextOfSeveral } = kindOf(row);
  return row.count > 1 && nextOfSeveral ? nextOfSeveral(row) : nextOf(row);
}

/** Whether a row ends only if a person acts. */
export function needsPerson(row: AttentionCase): boolean {
  return kindOf(row).needsNoPerson !== true;
}

/** How many cases a row has, as far as they were read. */
export function countOf({ count }: AttentionRow): string {
  return count >= CASES_OF_KIND ? `${CASES_OF_KIND}+` : String(count);
}
