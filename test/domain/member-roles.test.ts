import { assert, constantFrom, property } from 'fast-check';
import {
  ACCESS_LEVELS,
  accessLevel,
  mayAccess,
  MEMBER_AREAS,
  MEMBER_ROLES,
  rolesWith,
  seesShiftsOfOthers,
} from '../../src/domain/member-roles';

const role = constantFrom(...MEMBER_ROLES);
const area = constantFrom(...MEMBER_AREAS);
const level = constantFrom(...ACCESS_LEVELS);

it('a level includes those before it, and no role exceeds its level', () => {
  assert(
    property(role, area, level, (role, area, level) => {
      const isIncluded = ACCESS_LEVELS.indexOf(level) <= ACCESS_LEVELS.indexOf(accessLevel(role, area));
      expect(mayAccess(role, area, level)).toBe(isIncluded);
    }),
  );
});

it('the roles of a level are exactly those that reach it', () => {
  assert(
    property(role, area, level, (role, area, level) => {
      expect(rolesWith(area, level).includes(role)).toBe(mayAccess(role, area, level));
    }),
  );
});

it('the owner reaches what any other role reaches', () => {
  assert(
    property(role, area, level, (role, area, level) => {
      expect(!mayAccess(role, area, level) || mayAccess('owner', area, level)).toBe(true);
    }),
  );
});

it('the roles that see the team see the shifts of its members', () => {
  expect(MEMBER_ROLES.filter(seesShiftsOfOthers)).toEqual(['owner', 'finance', 'developer']);
});

it('each role has exactly these rights beyond its view', () => {
  const rights = MEMBER_ROLES.map((role) => [
    role,
    MEMBER_AREAS.filter((area) => mayAccess(role, area, 'manage')).map((area) => `${area} ${accessLevel(role, area)}`),
  ]);
  expect(Object.fromEntries(rights)).toEqual({
    owner: [
      'payments authorise',
      'payouts authorise',
      'bank_account manage',
      'developers manage',
      'team manage',
      'settings authorise',
    ],
    finance: ['payments authorise', 'payouts authorise', 'bank_account manage'],
    developer: ['developers manage', 'settings manage'],
    support: ['payments authorise'],
    cashier: ['payments manage'],
    viewer: [],
  });
});

it('only the owner and support see personal data of customers', () => {
  expect(rolesWith('customers', 'view')).toEqual(['owner', 'support']);
});
