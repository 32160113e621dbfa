import type { ReactElement } from 'react';
import { isProposal, type BankAccountStatus } from '../../../domain/bank-account-transitions';
import { describeAccount } from '../../../domain/banks';
import { StateChip, type Tone } from '../../ui/chip';
import type { Fact } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

/** A bank account as the pages show it: without its number. */
export interface ShownAccount {
  readonly id: string;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly holderName: string | null;
  readonly status: BankAccountStatus;
  readonly version: number;
  readonly proposedBy: string;
  readonly proposerName: string | null;
  readonly confirmedBy: string | null;
  readonly confirmerName: string | null;
  readonly waitsForMember: boolean;
  readonly usableFrom: Date | null;
  readonly failureReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const TONES = {
  pending_inquiry: 'open',
  pending_approval: 'open',
  active: 'good',
  suspended: 'warning',
  rejected: 'bad',
  withdrawn: 'neutral',
  replaced: 'neutral',
  disabled: 'neutral',
} as const satisfies Record<BankAccountStatus, Tone>;

interface AccountProps {
  readonly view: MerchantView;
  readonly account: ShownAccount;
  /** Whether payouts to it wait for the proposed account. */
  readonly isPaused?: boolean;
}

export function AccountChip({ view, account: { status }, isPaused = false }: AccountProps): ReactElement {
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language];
  if (isPaused && status === 'active') return <StateChip tone="warning" label={texts.pausedStatus} />;
  return <StateChip tone={TONES[status]} label={texts.statuses[status]} />;
}

/** In the cool-down after its approval it receives nothing. */
export function isCoolingDown({ nowMs }: MerchantView, { status, usableFrom }: ShownAccount): boolean {
  return status === 'active' && usableFrom !== null && usableFrom.getTime() > nowMs;
}

export function accountName({ bankCode, lastFour }: ShownAccount): string {
  return describeAccount(bankCode, lastFour);
}

/** What is known of an account, as far as it matters in its status. */
export function accountFacts({ view, account, isPaused = false }: AccountProps): Fact[] {
  const { locale } = view;
  const { columns, lunas } = BANK_ACCOUNT_TEXTS[locale.language];
  const isByMember = account.proposedBy.startsWith('user:');
  return [
    { name: columns.account, value: <span className="strong">{accountName(account)}</span> },
    { name: columns.holder, value: account.holderName ?? '–' },
    { name: columns.status, value: <AccountChip view={view} account={account} isPaused={isPaused} /> },
    ...(account.failureReason === null ? [] : [{ name: columns.reason, value: account.failureReason }]),
    ...(account.usableFrom === null || isProposal(account.status)
      ? []
      : [{ name: columns.usableFrom, value: <Time at={account.usableFrom} style="full" locale={locale} /> }]),
    { name: columns.added, value: <Time at={account.createdAt} style="short" locale={locale} /> },
    { name: columns.by, value: isByMember ? (account.proposerName ?? '–') : lunas },
    ...(account.confirmedBy === null ? [] : [{ name: columns.confirmedBy, value: account.confirmerName ?? '–' }]),
  ];
}
