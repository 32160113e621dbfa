/** What keeps every payout of a merchant back, in the order in which it is reported. */
export const PAYOUT_OBSTACLES = [
  'merchant_not_approved',
  'merchant_on_hold',
  'payouts_stopped',
  'recovery_mode',
  'no_payouts_account',
  'no_bank_account',
  'bank_account_suspended',
  'proposal_open',
  'cooling_down',
] as const;
export type PayoutObstacle = (typeof PAYOUT_OBSTACLES)[number];
