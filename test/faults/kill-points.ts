/** The processes that are killed. */
export const VICTIMS = ['api', 'worker', 'postgres', 'temporal'] as const;
export type Victim = (typeof VICTIMS)[number];

/** The processes of ours, which a payment passes through. */
export type Witness = 'api' | 'worker';

interface KillPointRule {
  /** Where a payment is then. */
  readonly between: string;
  /** Who sees it pass. */
  readonly witnesses: readonly Witness[];
  /** A life that gets there. */
  readonly scenario: 'settle' | 'refund' | 'expire';
}

/** The moments of a life at which the worst can happen (proof.md). */
export const KILL_POINTS = {
  K1: { between: 'before the workflow starts', witnesses: ['api'], scenario: 'settle' },
  K2: { between: 'workflow started, no row', witnesses: ['worker'], scenario: 'settle' },
  K3: { between: 'row, before the provider call', witnesses: ['worker'], scenario: 'settle' },
  K4: { between: 'provider accepted, unrecorded', witnesses: ['worker'], scenario: 'settle' },
  K5: { between: 'recorded, unanswered', witnesses: ['api', 'worker'], scenario: 'settle' },
  K6: { between: 'notification verified, unstored', witnesses: ['api'], scenario: 'settle' },
  K7: { between: 'stored, unsignalled', witnesses: ['api'], scenario: 'settle' },
  K8: { between: 'inside the statement of a transition', witnesses: ['worker'], scenario: 'settle' },
  K9: { between: 'webhook 2xx, unrecorded', witnesses: ['worker'], scenario: 'settle' },
  K10: { between: 'refund accepted, unrecorded', witnesses: ['worker'], scenario: 'refund' },
  K11: { between: 'settling', witnesses: ['worker'], scenario: 'settle' },
  K12: { between: 'expiry timer firing', witnesses: ['worker'], scenario: 'expire' },
} as const satisfies Record<string, KillPointRule>;

export type KillPoint = keyof typeof KILL_POINTS;
export const KILL_POINT_NAMES = Object.keys(KILL_POINTS).filter(isKillPoint);

export function isKillPoint(name: string): name is KillPoint {
  return name in KILL_POINTS;
}
