import { NO_RATES } from '../../src/domain/fee-terms';
import type { Language } from '../../src/domain/sign-in';
import type { DashboardDependencies } from '../../src/web/dashboard/dashboard-dependencies';
import type { MemberVisit, Visit } from '../../src/web/page/page-route';

const ID = '0199a5a0-0000-7000-8000-000000000001';
const NOW = new Date('2026-11-29T00:00:00Z');

const MEMBER = {
  merchantId: ID,
  merchantCode: '0123ABCD',
  merchantName: 'Toko',
  merchantStatus: 'approved',
  timeZone: 'Asia/Jakarta',
  role: 'owner',
};
const PARAMS = { code: MEMBER.merchantCode, key: ID, endpoint: ID, user: ID, account: ID, invitation: ID, id: ID };

/** A page of a form reads nothing of its request but this. What `Object.create` returns has no type. */
export function strangerVisit(language: Language, fields: Readonly<Record<string, string>> = {}): Visit {
  return Object.assign(Object.create(null), {
    request: { params: PARAMS, path: '/', ip: '192.0.2.1', method: 'GET', headers: {} },
    language,
    now: NOW,
    session: null,
    pending: null,
    fields: new URLSearchParams(fields),
    returnPath: '/',
  });
}

/** An owner visits a page of the merchant. */
export function ownerVisit(language: Language, fields: Readonly<Record<string, string>> = {}): Visit {
  const user = { id: ID, name: 'Siti', email: 'siti@shop.test', language };
  const session = { user, method: 'password', steppedUpAt: NOW, membership: MEMBER };
  return Object.assign(Object.create(null), strangerVisit(language, fields), { session });
}

/** An owner visits a page that shows something of the merchant. */
export function memberVisit(language: Language): MemberVisit {
  return Object.assign(Object.create(null), ownerVisit(language), { member: MEMBER });
}

/** For pages whose operation is replaced: what else they read, no row has. */
export const NO_DEPENDENCIES: DashboardDependencies = Object.assign(Object.create(null), {
  environment: 'sandbox',
  db: { query: () => Promise.resolve({ rows: [] }) },
});

/** The terms of a merchant with two providers. */
export const OWN_TERMS = {
  merchantId: ID,
  feePayer: 'merchant',
  providers: ['gopay', 'shopeepay'],
  paymentMethodActive: true,
  returnUrl: null,
  checkoutOrigins: [],
  cell: '',
  policies: (['gopay', 'shopeepay'] as const).map((provider) => ({
    provider,
    rates: NO_RATES,
    providerAccountId: ID,
    policy: {
      policyId: ID,
      feeBasisPoints: 70,
      feeFlatRupiah: 0,
      settlementKind: 'automatic' as const,
      settlementDelaySeconds: 60,
      expiresInSeconds: 900,
    },
  })),
} as const;
