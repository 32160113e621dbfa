import type { BalanceTransactionKind } from './balance';
import { chooseRail, type ChosenRail, type PayoutPolicy } from './payout-rails';
import type { PayoutObstacle, PayoutRejection } from './payout-rejections';

/** What a payout of a merchant would be, as PostgreSQL has it at one time. */
export interface PayoutBasis {
  /** The cell that has the merchant. */
  readonly cell: string;
  readonly obstacle: PayoutObstacle | null;
  /** The bank account that receives it; null: none. */
  readonly account: PayoutAccount | null;
  /** Our account, which pays; null: none. */
  readonly providerAccountId: string | null;
  readonly balanceRupiah: number;
  /** Null: no rail can send a part of the balance. */
  readonly run: PayableRun | null;
  /** The lines of the run, by kind. */
  readonly lines: readonly PaidLines[];
  readonly policies: readonly PayoutPolicy[];
  readonly holidays: readonly string[];
}

/** Lines that follow each other, which a payout pays. */
export interface PayableRun {
  /** The sum of the lines. */
  readonly grossRupiah: number;
  /** The run has the unclaimed lines after this posting. */
  readonly afterPostingId: number;
  /** The last line; 0: the payout has no lines, and is paid on account. */
  readonly upToPostingId: number;
}

interface PayoutAccount {
  readonly id: string;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly usableFrom: Date;
}

/** Lines of one kind that a payout pays. */
export interface PaidLines {
  readonly kind: BalanceTransactionKind;
  readonly count: number;
  readonly rupiah: number;
}

export interface PossiblePayout extends PayableRun, Pick<PayoutBasis, 'cell'> {
  readonly account: PayoutAccount;
  readonly providerAccountId: string;
  readonly rail: ChosenRail;
}

/** Pages, schedules and writers decide by it. */
export function decidePayable(basis: PayoutBasis, at: Date): PossiblePayout | PayoutRejection {
  const { obstacle, account, providerAccountId, balanceRupiah, policies } = basis;
  if (obstacle === 'cooling_down' && account) return { code: obstacle, usableFrom: account.usableFrom };
  if (obstacle !== null && obstacle !== 'cooling_down') return { code: obstacle };
  if (!account) return { code: 'no_bank_account' };
  if (providerAccountId === null) return { code: 'no_payouts_account' };
  if (balanceRupiah < 0) return { code: 'negative_balance', balanceRupiah };
  if (balanceRupiah === 0) return { code: 'nothing_to_pay' };
  const { run } = basis;
  const rail = run && chooseRail(policies, run.grossRupiah, at, basis.holidays);
  if (!rail) return { code: 'below_minimum', balanceRupiah, minimumRupiah: minimumOf(policies) };
  return { cell: basis.cell, account, providerAccountId, ...run, rail };
}

function minimumOf(policies: readonly PayoutPolicy[]): number {
  return Math.min(...policies.map(({ minRupiah, feeRupiah }) => minRupiah + feeRupiah));
}
