/** The processes that are killed. */
export const VICTIMS = ['api', 'worker', 'postgres', 'temporal'] as const;
export type Victim = (typeof VICTIMS)[number];

/** The processes that have breakpoints. */
export type Witness = 'api' | 'worker';

interface KillPointRule {
  readonly between: string;
  /** The processes that reach the point. */
  readonly witnesses: readonly Witness[];
  /** A scenario that reaches the point. */
  readonly scenario: 'settle' | 'refund' | 'expire';
}

/** The kill points K1 to K12 (proof.md). */
export const KILL_POINTS = {
  K1: { between: 'before the workflow starts', witnesses: ['api'], scenario: 'settle' },
  K2: { between: 'workflow started, no row', witnesses: ['worker'], scenario: 'settle' },
  K3: { between: 'row, before the provider call', witnesses: ['worker'], scenario: 'settle' },
  K4: { between: 'provider accepted, unrecorded', witnesses: ['worker'], scenario: 'settle' },
  K5: { between: 'recorded, no response sent', witnesses: ['api', 'worker'], scenario: 'settle' },
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
