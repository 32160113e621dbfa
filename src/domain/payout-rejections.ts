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

/** The obstacles that end without an operator, or end the payout. */
export const OBSTACLES_WITHOUT_ATTENTION: readonly PayoutObstacle[] = [
  'cooling_down',
  'proposal_open',
  'no_bank_account',
];

/** Why a balance cannot be paid out, with what its text names. */
export type PayoutRejection =
  | { readonly code: Exclude<PayoutObstacle, 'cooling_down'> }
  | { readonly code: 'cooling_down'; readonly usableFrom: Date }
  | { readonly code: 'nothing_to_pay' }
  /** The merchant owes it. */
  | { readonly code: 'negative_balance'; readonly balanceRupiah: number }
  /** The least gross amount that a rail can send. */
  | { readonly code: 'below_minimum'; readonly balanceRupiah: number; readonly minimumRupiah: number }
  /** An earlier request of the merchant is not decided yet: it may get the same money. */
  | { readonly code: 'request_pending' }
  /** The balance is not what the requester has seen: the page has to be read again. */
  | { readonly code: 'balance_changed' };
