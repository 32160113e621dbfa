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
  readonly life: 'settle' | 'refund' | 'expire';
}

/** The moments of a life at which the worst can happen (proof.md). */
export const KILL_POINTS = {
  K1: { between: 'before the workflow starts', witnesses: ['api'], life: 'settle' },
  K2: { between: 'workflow started, no row', witnesses: ['worker'], life: 'settle' },
  K3: { between: 'row, before the provider call', witnesses: ['worker'], life: 'settle' },
  K4: { between: 'provider accepted, unrecorded', witnesses: ['worker'], life: 'settle' },
  K5: { between: 'recorded, unanswered', witnesses: ['api', 'worker'], life: 'settle' },
  K6: { between: 'notification verified, unstored', witnesses: ['api'], life: 'settle' },
  K7: { between: 'stored, unsignalled', witnesses: ['api'], life: 'settle' },
  K8: { between: 'inside the statement of a transition', witnesses: ['worker'], life: 'settle' },
  K9: { between: 'webhook 2xx, unrecorded', witnesses: ['worker'], life: 'settle' },
  K10: { between: 'refund accepted, unrecorded', witnesses: ['worker'], life: 'refund' },
  K11: { between: 'settling', witnesses: ['worker'], life: 'settle' },
  K12: { between: 'expiry timer firing', witnesses: ['worker'], life: 'expire' },
} as const satisfies Record<string, KillPointRule>;

export type KillPoint = keyof typeof KILL_POINTS;
export const KILL_POINT_NAMES = Object.keys(KILL_POINTS).filter(isKillPoint);

export function isKillPoint(name: string): name is KillPoint {
  return name in KILL_POINTS;
}
