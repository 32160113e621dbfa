/** The processes that are killed. `payouts` is the worker of payouts. */
export const VICTIMS = ['api', 'worker', 'payouts', 'postgres', 'temporal'] as const;
export type Victim = (typeof VICTIMS)[number];

/** The processes that have breakpoints. */
export const WITNESSES = ['api', 'worker', 'payouts'] as const;
export type Witness = (typeof WITNESSES)[number];

interface KillPointRule {
  readonly between: string;
  /** The processes that reach the point. */
  readonly witnesses: readonly Witness[];
  /** A scenario that reaches the point. */
  readonly scenario: 'settle' | 'refund' | 'expire' | 'payout' | 'payoutReturned' | 'payoutsOfTheDay';
}

/** The kill points K1 to K19 (proof.md). */
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
  K13: { between: 'payout workflow started, no row', witnesses: ['payouts'], scenario: 'payout' },
  K14: { between: 'permission recorded, bank not called', witnesses: ['payouts'], scenario: 'payout' },
  K15: { between: 'bank called, response unread', witnesses: ['payouts'], scenario: 'payout' },
  K16: { between: 'inside the statement of complete', witnesses: ['payouts'], scenario: 'payout' },
  K17: { between: 'bank notification, unsignalled', witnesses: ['api'], scenario: 'payout' },
  K18: { between: 'returned at the bank, unrecorded', witnesses: ['payouts'], scenario: 'payoutReturned' },
  K19: { between: 'daily run, between two merchants', witnesses: ['payouts'], scenario: 'payoutsOfTheDay' },
} as const satisfies Record<string, KillPointRule>;

export type KillPoint = keyof typeof KILL_POINTS;
export const KILL_POINT_NAMES = Object.keys(KILL_POINTS).filter(isKillPoint);

export function isKillPoint(name: string): name is KillPoint {
  return name in KILL_POINTS;
}

const PAYOUT_POINTS: ReadonlySet<KillPoint> = new Set(['K13', 'K14', 'K15', 'K16', 'K17', 'K18', 'K19']);

export function isPayoutPoint(point: KillPoint): boolean {
  return PAYOUT_POINTS.has(point);
}

/** Whose end can do harm at a point. The other worker takes no part in what happens there. */
export function victimsOf(point: KillPoint): readonly Victim[] {
  const bystander = isPayoutPoint(point) ? 'worker' : 'payouts';
  return VICTIMS.filter((victim) => victim !== bystander);
}
