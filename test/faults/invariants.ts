export const INVARIANTS = {
  I1: 'what got a 2xx response exists, the same at every repeat',
  I2: 'at most one charge for a merchant and key',
  I3: 'at most one accepted refund for a payment, over its total, under a key that was recorded before',
  I4: 'all postings balance; a refund leaves the merchant with minus the fee',
  I5: 'each transition reaches the merchant, signed, under one delivery id',
  I6: 'only transitions of the contract',
  I7: 'PostgreSQL = workflow = provider',
  I8: 'no workflow is stuck',
  P1: 'a payout that was acknowledged exists, with the same amounts',
  P2: 'at most one execution for a payout, of its amount to its account, and one call for a permission',
  P3: 'completed if and only if the bank has executed it, and it did not come back',
  P4: 'a line is claimed at most once; the lines are the balance',
  P5: 'only transitions of payouts; their postings balance',
  P6: 'each event of a payout reaches each endpoint that lists it, and no other',
  P7: 'PostgreSQL = workflow = bank; what the bank never received needs attention',
  P8: 'no permission before approval, in a cool-down, on hold, or for an account that has ended',
} as const;
export type Invariant = keyof typeof INVARIANTS;
export const INVARIANT_NAMES = Object.keys(INVARIANTS).filter((name): name is Invariant => name in INVARIANTS);

/** Those of payments, which hold without payouts too. */
export const PAYMENT_INVARIANTS = INVARIANT_NAMES.filter((name) => name.startsWith('I'));

/** These invariants hold at all times, also during faults. */
export const ALWAYS = [
  'I1',
  'I2',
  'I3',
  'I4',
  'I5',
  'I6',
  'P1',
  'P2',
  'P4',
  'P5',
  'P6',
  'P8',
] as const satisfies Invariant[];

export interface InvariantResult {
  readonly checks: number;
  readonly violations: readonly string[];
}

/** The result of one check: null, or the violation. */
export type Check = string | null;
