export const BANK_ACCOUNT_STATUSES = [
  /** The bank is asked for the holder's name. */
  'pending_inquiry',
  /** The bank knows the account. Lunas has to approve it. */
  'pending_approval',
  /** Receives payouts after its cool-down. */
  'active',
  /** Receives nothing until it is approved again. */
  'suspended',
  'rejected',
  'withdrawn',
  /** Another account became active. */
  'replaced',
  'disabled',
] as const;
export type BankAccountStatus = (typeof BANK_ACCOUNT_STATUSES)[number];

/** A proposal waits for the bank or for Lunas. While there is one, a merchant cannot add another account. */
export const PROPOSAL_STATUSES = ['pending_inquiry', 'pending_approval'] as const satisfies BankAccountStatus[];

/** Whom a transition is permitted: a member of the merchant, an operator of Lunas, the workflow of the inquiry. */
type TransitionActor = 'user' | 'operator' | 'workflow';

interface BankAccountTransition {
  /** Empty: it creates the account. */
  readonly from: readonly BankAccountStatus[];
  readonly to: BankAccountStatus;
  readonly by: readonly TransitionActor[];
}

/** Every change of the status of a merchant's bank account. In production an operator's two need a second one. */
export const BANK_ACCOUNT_TRANSITIONS = {
  add: { from: [], to: 'pending_inquiry', by: ['user', 'operator'] },
  verify: { from: ['pending_inquiry'], to: 'pending_approval', by: ['workflow'] },
  fail_inquiry: { from: ['pending_inquiry'], to: 'rejected', by: ['workflow'] },
  /** The second member, where the merchant has one. */
  confirm: { from: ['pending_approval'], to: 'pending_approval', by: ['user'] },
  withdraw: { from: PROPOSAL_STATUSES, to: 'withdrawn', by: ['user'] },
  reject: { from: PROPOSAL_STATUSES, to: 'rejected', by: ['operator'] },
  approve: { from: ['pending_approval'], to: 'active', by: ['operator'] },
  /** Part of `approve`: the account in use ends in the same statement. */
  replace: { from: ['active', 'suspended'], to: 'replaced', by: ['operator'] },
  suspend: { from: ['active'], to: 'suspended', by: ['operator', 'workflow'] },
  reactivate: { from: ['suspended'], to: 'active', by: ['operator'] },
  disable: { from: ['active', 'suspended'], to: 'disabled', by: ['user', 'operator'] },
} as const satisfies Readonly<Record<string, BankAccountTransition>>;

export type BankAccountTransitionName = keyof typeof BANK_ACCOUNT_TRANSITIONS;

/** The statuses that no transition leaves. */
export const FINAL_BANK_ACCOUNT_STATUSES: readonly BankAccountStatus[] = BANK_ACCOUNT_STATUSES.filter((status) =>
  Object.values<BankAccountTransition>(BANK_ACCOUNT_TRANSITIONS).every(({ from }) => !from.includes(status)),
);

export function isProposal(status: BankAccountStatus): status is (typeof PROPOSAL_STATUSES)[number] {
  return PROPOSAL_STATUSES.some((proposal) => proposal === status);
}
