import { formatInWib } from './wib';

/** When a merchant's balance is paid out without a request. */
export const PAYOUT_SCHEDULES = ['manual', 'daily', 'weekly'] as const;
export type PayoutSchedule = (typeof PAYOUT_SCHEDULES)[number];

export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
/** 1: Monday, as in ISO 8601. */
export type Weekday = (typeof WEEKDAYS)[number];

/** What a merchant sets. */
export type PayoutSettings = {
  /** The least balance that the schedule pays out. */
  readonly minimumRupiah: number;
} & ScheduledRun;

/** Settings that wait for a second member. */
export type ProposedSettings = PayoutSettings & {
  readonly id: string;
  readonly proposedBy: string;
  readonly proposerName: string | null;
  readonly proposedAt: Date;
};

type ScheduledRun =
  | { readonly schedule: 'manual' | 'daily'; readonly weekday: null }
  | { readonly schedule: 'weekly'; readonly weekday: Weekday };

/** The settings of a merchant that has set none. */
export const DEFAULT_PAYOUT_SETTINGS: PayoutSettings = { schedule: 'manual', weekday: null, minimumRupiah: 50_000 };

/** In WIB. The schedule of Temporal starts the run then. */
const RUN_TIME = '07:00:00';
const DAY_MS = 86_400_000;

/** The next run after this time; null: payouts are requested by hand. */
export function nextPayoutRun({ schedule, weekday }: ScheduledRun, after: Date): Date | null {
  if (schedule === 'manual') return null;
  for (let dayMs = after.getTime(); ; dayMs += DAY_MS) {
    const day = formatInWib(new Date(dayMs)).slice(0, 'YYYY-MM-DD'.length);
    const run = new Date(`${day}T${RUN_TIME}+07:00`);
    const isDay = weekday === null || (new Date(`${day}T00:00:00Z`).getUTCDay() || 7) === weekday;
    if (isDay && run > after) return run;
  }
}

/** A part of the daily run of payouts. */
export interface ScheduledPayoutsPart {
  /** The day of the run, in WIB. */
  readonly day: string;
  /** The start of the run, Unix time. */
  readonly startedAtMs: number;
  /** Merchants with greater ids; null: from the first one. */
  readonly after: string | null;
  /** Only these; null: all merchants who are due. */
  readonly merchantIds: readonly string[] | null;
}

/** One attempt of a part. */
export interface ScheduledPayoutsRun {
  /** From 1. */
  readonly attempt: number;
  /** Called after each merchant. */
  readonly onProgress: () => void;
}

export interface ScheduledPayouts {
  readonly requested: number;
  /** The merchants whose payouts could not be requested. */
  readonly failed: readonly string[];
  /** Where the next part begins; null: there is none. */
  readonly next: string | null;
}
