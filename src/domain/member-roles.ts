import type { SubjectKind } from './subject';

/** What a member of a merchant may do in an area of the dashboard. A level includes those before it. */
export const ACCESS_LEVELS = ['none', 'view', 'manage', 'authorise'] as const;
export type AccessLevel = (typeof ACCESS_LEVELS)[number];

/**
 * The parts of the dashboard. `turnover`: what the shop takes, as sums and as a file of all payments; who has none sees
 * what they took themselves. `customers`: personal data. `developers`: keys, webhooks and requests.
 */
export const MEMBER_AREAS = [
  'payments',
  'turnover',
  'customers',
  'balance',
  'payouts',
  'bank_account',
  'developers',
  'team',
  'activity',
  'settings',
] as const;
export type MemberArea = (typeof MEMBER_AREAS)[number];

/** `cashier`: the person at the counter of a small shop, who takes payments and refunds none. */
export const MEMBER_ROLES = ['owner', 'finance', 'developer', 'support', 'cashier', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/**
 * payments: *manage* creates and cancels, *authorise* refunds. payouts: *manage* requests and cancels, *authorise*
 * approves the request of another member. settings: *manage* changes the look of the checkout page, *authorise* where
 * it sends customers. Routes, menu and buttons read this table.
 */
const ACCESS: Readonly<Record<MemberArea, Readonly<Record<MemberRole, AccessLevel>>>> = {
  payments: {
    owner: 'authorise',
    finance: 'authorise',
    developer: 'view',
    support: 'authorise',
    cashier: 'manage',
    viewer: 'view',
  },
  turnover: {
    owner: 'view',
    finance: 'view',
    developer: 'view',
    support: 'view',
    cashier: 'none',
    viewer: 'view',
  },
  customers: {
    owner: 'view',
    finance: 'none',
    developer: 'none',
    support: 'view',
    cashier: 'none',
    viewer: 'none',
  },
  balance: {
    owner: 'view',
    finance: 'view',
    developer: 'none',
    support: 'none',
    cashier: 'none',
    viewer: 'view',
  },
  payouts: {
    owner: 'authorise',
    finance: 'authorise',
    developer: 'none',
    support: 'none',
    cashier: 'none',
    viewer: 'view',
  },
  bank_account: {
    owner: 'manage',
    finance: 'manage',
    developer: 'none',
    support: 'none',
    cashier: 'none',
    viewer: 'view',
  },
  developers: {
    owner: 'manage',
    finance: 'none',
    developer: 'manage',
    support: 'view',
    cashier: 'none',
    viewer: 'none',
  },
  team: {
    owner: 'manage',
    finance: 'view',
    developer: 'view',
    support: 'none',
    cashier: 'none',
    viewer: 'none',
  },
  activity: {
    owner: 'view',
    finance: 'view',
    developer: 'view',
    support: 'none',
    cashier: 'none',
    viewer: 'none',
  },
  settings: {
    owner: 'authorise',
    finance: 'view',
    developer: 'manage',
    support: 'none',
    cashier: 'none',
    viewer: 'view',
  },
};

/** The highest level of a role in an area. */
export function accessLevel(role: MemberRole, area: MemberArea): AccessLevel {
  return ACCESS[area][role];
}

/** Whether the role reaches the level in the area. */
export function mayAccess(role: MemberRole, area: MemberArea, level: AccessLevel): boolean {
  return ACCESS_LEVELS.indexOf(accessLevel(role, area)) >= ACCESS_LEVELS.indexOf(level);
}

/** Who sees the team sees the shifts of its members, also of former ones; the others see only their own. */
export function seesShiftsOfOthers(role: MemberRole): boolean {
  return mayAccess(role, 'team', 'view');
}

/** The roles that reach the level, for the text of a page that another role may not open. */
export function rolesWith(area: MemberArea, level: AccessLevel): MemberRole[] {
  return MEMBER_ROLES.filter((role) => mayAccess(role, area, level));
}

/** What an event is about, as an area of the dashboard. */
const EVENT_AREAS = {
  payment: 'payments',
  late_payment: 'payments',
  payout: 'payouts',
  invoice: 'balance',
} as const satisfies Record<SubjectKind, MemberArea>;

/** The roles that may read an event of this kind: they see its area, or decide which endpoint receives it. */
export function rolesReadingEvents(kind: SubjectKind): MemberRole[] {
  return MEMBER_ROLES.filter(
    (role) => mayAccess(role, EVENT_AREAS[kind], 'view') || mayAccess(role, 'developers', 'manage'),
  );
}
