import { z } from 'zod';
import { RAILS } from '../../domain/payout-rails';

/* Rows by their columns: a trigger compares each with what two operators have approved. */

/** A row of `payout_limits`. */
export const payoutLimitsSchema = z.object({
  /** A new bank account receives nothing for so long. */
  cooldown_seconds: z.number(),
  /** The time after the last call in which a payout that the bank does not know may still arrive there. */
  not_found_seconds: z.number(),
  /** An operator approves payouts above this sum of a merchant and a WIB day. */
  day_limit_rupiah: z.number(),
});
export type PayoutLimits = z.output<typeof payoutLimitsSchema>;

/** A row of `payout_policies`. */
export const payoutPolicySchema = z.object({
  rail: z.enum(RAILS),
  version: z.number(),
  fee_rupiah: z.number(),
  /** The least amount that is sent. */
  min_rupiah: z.number(),
  /** Null: no limit. */
  max_rupiah: z.number().nullable(),
  /** `08:00:00`, in WIB. */
  opens_at: z.string(),
  /** `24:00:00`: it does not close. */
  closes_at: z.string(),
  days: z.enum(['every', 'working']),
  expected_within_seconds: z.number(),
  is_enabled: z.boolean(),
});
export type PayoutPolicyVersion = z.output<typeof payoutPolicySchema>;
