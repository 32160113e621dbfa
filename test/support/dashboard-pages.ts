import { MAX as MAX_ID } from 'uuid';
import { encodeCursor } from '../../src/db/payments/cursor';
import type { PaymentStatus } from '../../src/domain/payment-transitions';
import { DASHBOARD_ROUTES } from '../../src/web/dashboard/routes';

/** What the pages of a filled merchant show. */
export interface FilledMerchant {
  readonly code: string;
  /** The newest payment of each status that there is. */
  readonly references: Partial<Record<PaymentStatus, string>>;
  /** The order of the newest payment. */
  readonly orderId: string;
  /** A day with payments, `YYYY-MM-DD`. */
  readonly day: string;
  /** The ids of one of each. */
  readonly key: string;
  readonly endpoint: string;
  readonly bankAccount: string;
  readonly link: string;
  /** The number of a fee invoice. */
  readonly invoice: string;
  /** One that waits for an approval, and one that is completed. */
  readonly payouts: readonly string[];
  readonly delivery: string;
  /** The first member has it. */
  readonly passkey: string;
  /** The tokens of an invitation, and of a link that resets a login. */
  readonly invitation: string;
  readonly reset: string;
  /** The ids of a member and of the invitation. */
  readonly member: string;
  readonly invitationId: string;
}

/** By what a page does most of its work. */
export type PageKind = 'form' | 'home' | 'list' | 'detail';

interface MeasuredPage {
  readonly kind: PageKind;
  /** The addresses that are measured: one for each statement that the page can choose. */
  readonly paths: (merchant: FilledMerchant) => readonly string[];
  /** By default an owner of the merchant opens the page. */
  readonly isSignedOut?: true;
  /** It has a limit for each network, or shows what belongs to one user. The load tests leave it out. */
  readonly isLimited?: true;
}

const ofMerchant =
  (...suffixes: readonly string[]): MeasuredPage['paths'] =>
  ({ code }) =>
    suffixes.map((suffix) => `/m/${code}${suffix}`);

const ofPayment =
  (suffix: string, ...statuses: readonly PaymentStatus[]): MeasuredPage['paths'] =>
  ({ code, references }) =>
    statuses.flatMap((status) => {
      const reference = references[status];
      return reference === undefined ? [] : [`/m/${code}/payments/${reference}${suffix}`];
    });

const form = (path: string): MeasuredPage => ({ kind: 'form', paths: () => [path] });

const ofKey =
  (suffix: string): MeasuredPage['paths'] =>
  ({ code, key }) => [`/m/${code}/developers/keys/${key}${suffix}`];

const ofEndpoint = (suffix: string): MeasuredPage => ({
  kind: 'form',
  paths: ({ code, endpoint }) => [`/m/${code}/developers/webhooks/${endpoint}${suffix}`],
});

const ofBankAccount = (suffix: string): MeasuredPage => ({
  kind: 'form',
  paths: ({ code, bankAccount }) => [`/m/${code}/bank-account/${bankAccount}${suffix}`],
});

const ofLink =
  (suffix: string): MeasuredPage['paths'] =>
  ({ code, link }) => [`/m/${code}/links/${link}${suffix}`];

const ofPayout = (suffix: string, kind: PageKind): MeasuredPage => ({
  kind,
  paths: ({ code, payouts }) => payouts.map((payout) => `/m/${code}/payouts/${payout}${suffix}`),
});

const ofPasskey = (suffix: string): MeasuredPage => ({
  kind: 'form',
  paths: ({ passkey }) => [`/profile/security/passkeys/${passkey}${suffix}`],
  isLimited: true,
});

const ofMember =
  (suffix: string): MeasuredPage['paths'] =>
  ({ code, member }) => [`/m/${code}/team/${member}${suffix}`];

const LIST_GROUPS = ['all', 'waiting', 'paid', 'unpaid', 'attention'].map((group) => `/payments?group=${group}`);

/** A list that was opened an hour ago. */
const TOP = encodeCursor({ createdAt: new Date(Date.now() - 3_600_000), id: MAX_ID });

/** The addresses of the load and buffer tests. A page without a line is red. */
const PAGES: Readonly<Record<string, MeasuredPage>> = {
  'get /': form('/'),
  'get /login': { ...form('/login'), isSignedOut: true },
  'get /login/code': form('/login/code'),
  'get /login/enrol': form('/login/enrol'),
  'get /invitations/:token': {
    kind: 'form',
    paths: ({ invitation }) => [`/invitations/${invitation}`],
    isSignedOut: true,
    isLimited: true,
  },
  'get /reset/:token': { kind: 'form', paths: ({ reset }) => [`/reset/${reset}`], isSignedOut: true, isLimited: true },
  'get /step-up': form('/step-up'),
  'get /profile': form('/profile'),
  'get /profile/security': form('/profile/security'),
  'get /profile/security/password': form('/profile/security/password'),
  'get /profile/security/totp': form('/profile/security/totp'),
  'get /profile/security/recovery-codes': form('/profile/security/recovery-codes'),
  'get /profile/security/passkeys/new': form('/profile/security/passkeys/new'),
  'get /profile/security/passkeys/:id': ofPasskey(''),
  'get /profile/security/passkeys/:id/remove': ofPasskey('/remove'),
  'get /m/:code/developers/requests': {
    kind: 'list',
    paths: ofMerchant('/developers/requests', '/developers/requests?status=failed'),
  },
  'get /m/:code/developers/requests/:request': { kind: 'detail', paths: ofMerchant('/developers/requests/request-1') },
  'get /m/:code': { kind: 'home', paths: ofMerchant('') },
  'get /m/:code/payments': {
    kind: 'list',
    paths: (merchant) => [
      ...ofMerchant('/payments', ...LIST_GROUPS, '/payments?status=refund_failed', '/payments?q=unknown')(merchant),
      ...ofMerchant('/payments?q=order-', '/payments?q=50000', '/payments?q=1', '/payments?q=ln4a3b2c')(merchant),
      ...ofMerchant(`/payments?q=${merchant.orderId}`)(merchant),
      ...ofMerchant(`/payments?from=${merchant.day}&to=${merchant.day}`)(merchant),
      ...LIST_GROUPS.flatMap((list) => ofMerchant(`${list}&top=${TOP}`)(merchant)),
      ...ofMerchant(`/payments?group=unpaid&from=${merchant.day}&to=${merchant.day}`)(merchant),
    ],
  },
  'get /m/:code/settings/checkout': { kind: 'form', paths: ofMerchant('/settings/checkout') },
  'get /m/:code/settings': { kind: 'form', paths: ofMerchant('/settings') },
  'get /m/:code/settings/edit': { kind: 'form', paths: ofMerchant('/settings/edit') },
  'get /m/:code/activity': {
    kind: 'list',
    paths: ofMerchant(
      '/activity',
      '/activity?action=key.create',
      '/activity?person=lunas',
      '/activity?from=2026-11-01&to=2026-11-02',
    ),
  },
  'get /m/:code/team': { kind: 'list', paths: ofMerchant('/team') },
  'get /m/:code/team/invite': { kind: 'form', paths: ofMerchant('/team/invite') },
  'get /m/:code/team/invitations/:invitation/withdraw': {
    kind: 'form',
    paths: ({ code, invitationId }) => [`/m/${code}/team/invitations/${invitationId}/withdraw`],
  },
  'get /m/:code/team/:user': { kind: 'form', paths: ofMember('') },
  'get /m/:code/team/:user/role': { kind: 'form', paths: ofMember('/role?role=finance') },
  'get /m/:code/team/:user/remove': { kind: 'form', paths: ofMember('/remove') },
  'get /m/:code/team/:user/reset': { kind: 'form', paths: ofMember('/reset') },
  'get /m/:code/developers/keys': { kind: 'list', paths: ofMerchant('/developers/keys') },
  'get /m/:code/developers/keys/new': { kind: 'form', paths: ofMerchant('/developers/keys/new') },
  'get /m/:code/developers/keys/:key': { kind: 'form', paths: ofKey('') },
  'get /m/:code/developers/keys/:key/edit': { kind: 'form', paths: ofKey('/edit') },
  'get /m/:code/developers/keys/:key/rotate': { kind: 'form', paths: ofKey('/rotate') },
  'get /m/:code/developers/keys/:key/revoke': { kind: 'form', paths: ofKey('/revoke') },
  'get /m/:code/developers/webhooks': { kind: 'list', paths: ofMerchant('/developers/webhooks') },
  'get /m/:code/developers/webhooks/new': { kind: 'form', paths: ofMerchant('/developers/webhooks/new') },
  'get /m/:code/developers/webhooks/:endpoint': { ...ofEndpoint(''), kind: 'detail' },
  'get /m/:code/developers/webhooks/:endpoint/edit': ofEndpoint('/edit'),
  'get /m/:code/developers/webhooks/:endpoint/rotate': ofEndpoint('/rotate'),
  'get /m/:code/developers/webhooks/:endpoint/ping': ofEndpoint('/ping'),
  'get /m/:code/developers/webhooks/:endpoint/disable': ofEndpoint('/disable'),
  'get /m/:code/developers/webhooks/:endpoint/enable': ofEndpoint('/enable'),
  'get /m/:code/developers/webhooks/:endpoint/delete': ofEndpoint('/delete'),
  'get /m/:code/developers/deliveries': {
    kind: 'list',
    paths: ({ code, endpoint, day }) =>
      [
        '',
        '?status=dead',
        '?status=pending',
        '?event=payment.paid',
        '?event=payment.refunded',
        `?endpoint=${endpoint}`,
        `?from=${day}&to=${day}`,
      ].map((query) => `/m/${code}/developers/deliveries${query}`),
  },
  'get /m/:code/developers/deliveries/redeliver': {
    kind: 'form',
    paths: ({ code, day }) => [`/m/${code}/developers/deliveries/redeliver?from=${day}&to=${day}`],
  },
  'get /m/:code/developers/deliveries/:delivery': {
    kind: 'detail',
    paths: ({ code, delivery }) => [`/m/${code}/developers/deliveries/${delivery}`],
  },
  'get /m/:code/bank-account': { kind: 'list', paths: ofMerchant('/bank-account') },
  'get /m/:code/bank-account/new': { kind: 'form', paths: ofMerchant('/bank-account/new') },
  'get /m/:code/bank-account/:account/confirm': ofBankAccount('/confirm'),
  'get /m/:code/bank-account/:account/withdraw': ofBankAccount('/withdraw'),
  'get /m/:code/bank-account/:account/disable': ofBankAccount('/disable'),
  'get /m/:code/payouts': {
    kind: 'list',
    paths: ofMerchant('/payouts', '/payouts?status=requested', '/payouts?status=completed', '/payouts?from=2026-01-01'),
  },
  'get /m/:code/payouts/new': { kind: 'form', paths: ofMerchant('/payouts/new') },
  'get /m/:code/payouts/schedule': { kind: 'form', paths: ofMerchant('/payouts/schedule') },
  'get /m/:code/payouts/schedule/proposal': { kind: 'form', paths: ofMerchant('/payouts/schedule/proposal') },
  'get /m/:code/payouts/:ref/approve': ofPayout('/approve', 'form'),
  'get /m/:code/payouts/:ref/cancel': ofPayout('/cancel', 'form'),
  'get /m/:code/payouts/:ref': ofPayout('', 'detail'),
  'get /m/:code/balance': { kind: 'list', paths: ofMerchant('/balance') },
  'get /m/:code/balance/statement': {
    kind: 'list',
    paths: ({ code, day }) => [`/m/${code}/balance/statement?from=${day.slice(0, 4)}-01-01&to=${day}`],
  },
  'get /m/:code/balance/days/:day': { kind: 'list', paths: ({ code, day }) => [`/m/${code}/balance/days/${day}`] },
  'get /m/:code/invoices': { kind: 'list', paths: ofMerchant('/invoices', '/invoices?older=30') },
  'get /m/:code/invoices/:number': { kind: 'detail', paths: ({ code, invoice }) => [`/m/${code}/invoices/${invoice}`] },
  'get /m/:code/links': { kind: 'list', paths: ofMerchant('/links', '/links?status=active', '/links?status=paid') },
  'get /m/:code/links/new': { kind: 'form', paths: ofMerchant('/links/new') },
  'get /m/:code/links/:link': { kind: 'detail', paths: ofLink('') },
  'get /m/:code/links/:link/close': { kind: 'form', paths: ofLink('/close') },
  'get /m/:code/links/:link/card': { kind: 'detail', paths: ofLink('/card') },
  'get /offline': { ...form('/offline'), isSignedOut: true },
  'get /m/:code/counter': { kind: 'form', paths: ofMerchant('/counter') },
  'get /m/:code/counter/shift': { kind: 'list', paths: ofMerchant('/counter/shift') },
  'get /m/:code/payments/new': { kind: 'form', paths: ofMerchant('/payments/new') },
  'get /m/:code/payments/:ref': {
    kind: 'detail',
    paths: ofPayment('', 'settled', 'pending', 'expired', 'refunded', 'refund_failed', 'paid'),
  },
  'get /m/:code/payments/:ref/customer': { kind: 'detail', paths: ofPayment('/customer', 'settled') },
  'get /m/:code/payments/:ref/qr': { kind: 'form', paths: ofPayment('/qr', 'pending', 'settled') },
  'get /m/:code/payments/:ref/slip': { kind: 'detail', paths: ofPayment('/slip', 'settled') },
  'get /m/:code/payments/:ref/refund': { kind: 'form', paths: ofPayment('/refund', 'paid', 'settled') },
  'get /m/:code/payments/:ref/cancel': { kind: 'form', paths: ofPayment('/cancel', 'pending', 'settled') },
  'get /m/:code/payments/:ref/refund/cancel': { kind: 'form', paths: ofPayment('/refund/cancel', 'refund_failed') },
};

/** Routes of GET that are no pages, each with the reason. */
const OTHER_GET_ROUTES: Readonly<Record<string, string>> = {
  'get /m/:code/payments/:ref/events': 'a stream: the load test holds 200',
  'get /m/:code/payments/:ref/qris.png': 'an image, from the memory',
  'get /m/:code/counter/shift.csv': 'as its page',
  'get /counter-worker.js': 'a file',
  'get /counter.webmanifest': 'a file',
  'get /m/:code/settings/checkout/logo.png': 'an image of one row',
  'get /m/:code/activity.csv': 'as payments.csv',
  'get /m/:code/payouts.csv': 'as payments.csv',
  'get /m/:code/payouts/:ref/lines.csv': 'as payments.csv',
  'get /m/:code/balance/days/:day.csv': 'as payments.csv',
  'get /m/:code/balance/statement.csv': 'as payments.csv',
  'get /m/:code/invoices/:number.pdf': 'a file of one row',
  'get /m/:code/invoices/:number.csv': 'as payments.csv',
  'get /m/:code/payments.csv': 'a file of any length, by pages of their own',
};

const getRoutes = (): string[] =>
  DASHBOARD_ROUTES.flatMap(({ method, path }) => (method === 'get' ? `get ${path}` : []));

/** The lines of the pages that there are, by route. */
export function measuredPages(): [route: string, page: MeasuredPage][] {
  const routes = new Set(getRoutes());
  return Object.entries(PAGES).filter(([route]) => routes.has(route));
}

/** Routes of GET that no test measures. */
export function listUnmeasuredRoutes(): string[] {
  return getRoutes().filter((route) => !(route in PAGES) && !(route in OTHER_GET_ROUTES));
}
