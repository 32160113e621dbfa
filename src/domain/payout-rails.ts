import { formatInWib } from './wib';

export const RAILS = ['bi_fast', 'online', 'skn', 'rtgs'] as const;
/** How a bank moves the money to another bank. */
export type Rail = (typeof RAILS)[number];

/** A rail that is in use. */
export interface PayoutPolicy {
  readonly id: number;
  readonly rail: Rail;
  /** The fee is part of the gross amount. */
  readonly feeRupiah: number;
  /** The least amount that is sent. */
  readonly minRupiah: number;
  /** Null: no limit. */
  readonly maxRupiah: number | null;
  /** `08:00:00`, in WIB. */
  readonly opensAt: string;
  /** `24:00:00`: it does not close. */
  readonly closesAt: string;
  readonly days: 'every' | 'working';
}

export interface ChosenRail {
  readonly policy: PayoutPolicy;
  readonly amountRupiah: number;
  /** When the bank can be called: now, or when the window opens. */
  readonly sendsAt: Date;
}

/**
 * Chooses among the rails that fit the amount: the cheapest one with an open window, else the one that opens first.
 * @param grossRupiah the amount with the fee
 * @param holidays days without banks besides Saturdays and Sundays, `YYYY-MM-DD`
 * @returns undefined if no rail fits
 */
export function chooseRail(
  policies: readonly PayoutPolicy[],
  grossRupiah: number,
  at: Date,
  holidays: readonly string[],
): ChosenRail | undefined {
  const fitting = policies
    .filter((policy) => fits(policy, grossRupiah - policy.feeRupiah))
    .map((policy) => ({
      policy,
      amountRupiah: grossRupiah - policy.feeRupiah,
      sendsAt: nextOpening(policy, at, holidays),
    }))
    .toSorted(
      (one, other) => one.sendsAt.getTime() - other.sendsAt.getTime() || one.policy.feeRupiah - other.policy.feeRupiah,
    );
  return fitting[0];
}

function fits({ minRupiah, maxRupiah }: PayoutPolicy, amountRupiah: number): boolean {
  return amountRupiah >= minRupiah && (maxRupiah === null || amountRupiah <= maxRupiah);
}

const DAY_MS = 86_400_000;

/** When a rail can be used. */
export type RailWindow = Pick<PayoutPolicy, 'opensAt' | 'closesAt' | 'days'>;

/** This time if the window is open, else its next opening. */
export function nextOpening({ opensAt, closesAt, days }: RailWindow, at: Date, holidays: readonly string[]): Date {
  for (let dayMs = at.getTime(); ; dayMs += DAY_MS) {
    const day = formatInWib(new Date(dayMs)).slice(0, 'YYYY-MM-DD'.length);
    if (days === 'working' && !isWorkingDay(day, holidays)) continue;
    const opening = Math.max(timeOf(day, opensAt), at.getTime());
    if (opening < timeOf(day, closesAt)) return new Date(opening);
  }
}

/** `is_working_day` in PostgreSQL has the same rule. */
function isWorkingDay(day: string, holidays: readonly string[]): boolean {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidays.includes(day);
}

/** `24:00:00` is the beginning of the next day. */
function timeOf(day: string, time: string): number {
  return Date.parse(`${day}T${time}+07:00`);
}
