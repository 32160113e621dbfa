import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import path from 'node:path';
import express from 'express';
import * as fc from 'fast-check';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { OPERATOR_ENDPOINTS, PUBLIC_ROUTES } from '../../../src/servers/api-routes';
import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';
import { startDevelopmentSession } from '../../../src/web/dashboard/session/start';
import { readSources } from '../../tidy/rules';

/** Bookmarks, links in letters and programs of merchants have these addresses. */
const DASHBOARD = [
  'GET /',
  'GET /counter-worker.js',
  'GET /counter.webmanifest',
  'GET /invitations/:token',
  'GET /login',
  'GET /login/code',
  'GET /login/enrol',
  'GET /m/:code',
  'GET /m/:code/activity',
  'GET /m/:code/activity.csv',
  'GET /m/:code/balance',
  'GET /m/:code/balance/days/:day',
  'GET /m/:code/balance/days/:day.csv',
  'GET /m/:code/balance/statement',
  'GET /m/:code/balance/statement.csv',
  'GET /m/:code/bank-account',
  'GET /m/:code/bank-account/:account/confirm',
  'GET /m/:code/bank-account/:account/disable',
  'GET /m/:code/bank-account/:account/withdraw',
  'GET /m/:code/bank-account/new',
  'GET /m/:code/counter',
  'GET /m/:code/counter/shift',
  'GET /m/:code/counter/shift.csv',
  'GET /m/:code/developers/deliveries',
  'GET /m/:code/developers/deliveries/:delivery',
  'GET /m/:code/developers/deliveries/redeliver',
  'GET /m/:code/developers/keys',
  'GET /m/:code/developers/keys/:key',
  'GET /m/:code/developers/keys/:key/edit',
  'GET /m/:code/developers/keys/:key/revoke',
  'GET /m/:code/developers/keys/:key/rotate',
  'GET /m/:code/developers/keys/new',
  'GET /m/:code/developers/requests',
  'GET /m/:code/developers/requests/:request',
  'GET /m/:code/developers/webhooks',
  'GET /m/:code/developers/webhooks/:endpoint',
  'GET /m/:code/developers/webhooks/:endpoint/delete',
  'GET /m/:code/developers/webhooks/:endpoint/disable',
  'GET /m/:code/developers/webhooks/:endpoint/edit',
  'GET /m/:code/developers/webhooks/:endpoint/enable',
  'GET /m/:code/developers/webhooks/:endpoint/ping',
  'GET /m/:code/developers/webhooks/:endpoint/rotate',
  'GET /m/:code/developers/webhooks/new',
  'GET /m/:code/invoices',
  'GET /m/:code/invoices/:number',
  'GET /m/:code/invoices/:number.csv',
  'GET /m/:code/invoices/:number.pdf',
  'GET /m/:code/links',
  'GET /m/:code/links/:link',
  'GET /m/:code/links/:link/card',
  'GET /m/:code/links/:link/close',
  'GET /m/:code/links/new',
  'GET /m/:code/payments',
  'GET /m/:code/payments.csv',
  'GET /m/:code/payments/:ref',
  'GET /m/:code/payments/:ref/cancel',
  'GET /m/:code/payments/:ref/customer',
  'GET /m/:code/payments/:ref/events',
  'GET /m/:code/payments/:ref/qr',
  'GET /m/:code/payments/:ref/qris.png',
  'GET /m/:code/payments/:ref/refund',
  'GET /m/:code/payments/:ref/refund/cancel',
  'GET /m/:code/payments/:ref/slip',
  'GET /m/:code/payments/new',
  'GET /m/:code/payouts',
  'GET /m/:code/payouts.csv',
  'GET /m/:code/payouts/:ref',
  'GET /m/:code/payouts/:ref/approve',
  'GET /m/:code/payouts/:ref/cancel',
  'GET /m/:code/payouts/:ref/lines.csv',
  'GET /m/:code/payouts/new',
  'GET /m/:code/payouts/schedule',
  'GET /m/:code/payouts/schedule/proposal',
  'GET /m/:code/settings',
  'GET /m/:code/settings/checkout',
  'GET /m/:code/settings/checkout/logo.png',
  'GET /m/:code/settings/edit',
  'GET /m/:code/team',
  'GET /m/:code/team/:user',
  'GET /m/:code/team/:user/remove',
  'GET /m/:code/team/:user/reset',
  'GET /m/:code/team/:user/role',
  'GET /m/:code/team/invitations/:invitation/withdraw',
  'GET /m/:code/team/invite',
  'GET /offline',
  'GET /profile',
  'GET /profile/security',
  'GET /profile/security/passkeys/:id',
  'GET /profile/security/passkeys/:id/remove',
  'GET /profile/security/passkeys/new',
  'GET /profile/security/password',
  'GET /profile/security/recovery-codes',
  'GET /profile/security/totp',
  'GET /reset/:token',
  'GET /start/:token',
  'GET /step-up',
  'POST /invitations/:token',
  'POST /invitations/:token/join',
  'POST /language',
  'POST /login',
  'POST /login/code',
  'POST /login/enrol',
  'POST /login/enrol/passkey',
  'POST /login/enrol/passkey/finish',
  'POST /login/passkey',
  'POST /login/passkey/finish',
  'POST /logout',
  'POST /m/:code/bank-account/:account/confirm',
  'POST /m/:code/bank-account/:account/disable',
  'POST /m/:code/bank-account/:account/withdraw',
  'POST /m/:code/bank-account/new',
  'POST /m/:code/counter',
  'POST /m/:code/developers/deliveries/:delivery/redeliver',
  'POST /m/:code/developers/deliveries/redeliver',
  'POST /m/:code/developers/keys/:key/edit',
  'POST /m/:code/developers/keys/:key/revoke',
  'POST /m/:code/developers/keys/:key/rotate',
  'POST /m/:code/developers/keys/new',
  'POST /m/:code/developers/webhooks/:endpoint/delete',
  'POST /m/:code/developers/webhooks/:endpoint/disable',
  'POST /m/:code/developers/webhooks/:endpoint/edit',
  'POST /m/:code/developers/webhooks/:endpoint/enable',
  'POST /m/:code/developers/webhooks/:endpoint/ping',
  'POST /m/:code/developers/webhooks/:endpoint/rotate',
  'POST /m/:code/developers/webhooks/new',
  'POST /m/:code/links/:link/close',
  'POST /m/:code/links/new',
  'POST /m/:code/notices/close',
  'POST /m/:code/payments/:ref/cancel',
  'POST /m/:code/payments/:ref/refund',
  'POST /m/:code/payments/:ref/refund/cancel',
  'POST /m/:code/payments/new',
  'POST /m/:code/payouts/:ref/approve',
  'POST /m/:code/payouts/:ref/cancel',
  'POST /m/:code/payouts/new',
  'POST /m/:code/payouts/schedule',
  'POST /m/:code/payouts/schedule/proposal',
  'POST /m/:code/settings/checkout',
  'POST /m/:code/settings/checkout/logo',
  'POST /m/:code/settings/checkout/logo/remove',
  'POST /m/:code/settings/edit',
  'POST /m/:code/team/:user/remove',
  'POST /m/:code/team/:user/reset',
  'POST /m/:code/team/:user/role',
  'POST /m/:code/team/invitations/:invitation/withdraw',
  'POST /m/:code/team/invite',
  'POST /profile',
  'POST /profile/security/passkeys',
  'POST /profile/security/passkeys/:id',
  'POST /profile/security/passkeys/:id/remove',
  'POST /profile/security/passkeys/new',
  'POST /profile/security/password',
  'POST /profile/security/recovery-codes',
  'POST /profile/security/sessions/end',
  'POST /profile/security/sessions/end-others',
  'POST /profile/security/totp',
  'POST /reset/:token',
  'POST /step-up',
  'POST /step-up/passkey',
  'POST /step-up/passkey/finish',
];

const PUBLIC = [
  'GET /',
  'GET /checkout/:file',
  'GET /checkout/logos/:file',
  'GET /docs',
  'GET /docs/:page',
  'GET /docs/api/:page',
  'GET /docs/files/:file',
  'GET /docs/search',
  'GET /docs/search/results',
  'GET /healthz',
  'GET /link/:token',
  'GET /llms.txt',
  'GET /openapi.json',
  'GET /pay/:token',
  'GET /pay/:token/events',
  'GET /pay/:token/qris.png',
  'GET /pay/:token/receipt.png',
  'GET /payment-links',
  'GET /payment-links/:id',
  'GET /payments/:id',
  'GET /payments/:id/qris',
  'GET /qris/:file',
  'GET /readyz',
  'GET /sandbox/checkout/:reference/:transaction',
  'GET /transactions',
  'GET /webhooks/stream',
  'POST /link/:token',
  'POST /payment-links',
  'POST /payment-links/:id/close',
  'POST /payments',
  'POST /payments/:id/cancel',
  'POST /payments/:id/refund',
  'POST /provider-notifications/:account',
  'POST /transactions/:id/cancel',
];

const OPERATORS = [
  'GET /operator/actions',
  'GET /operator/exceptions',
  'GET /operator/payments/:id',
  'GET /operator/payouts',
  'GET /operator/payouts/:id',
  'POST /operator/deliveries/:id/redeliver',
  'POST /operator/exceptions/:id/resolve',
  'POST /operator/merchants/:id/hold',
  'POST /operator/merchants/:id/release',
  'POST /operator/payments/:id/cancel',
  'POST /operator/payments/:id/fail',
  'POST /operator/payments/:id/refund',
  'POST /operator/payments/:id/refund/resolve',
  'POST /operator/payments/:id/refund/retry',
  'POST /operator/payments/:id/settle',
  'POST /operator/payouts/:id/approve',
  'POST /operator/payouts/:id/cancel',
  'POST /operator/payouts/:id/resend',
  'POST /operator/payouts/:id/resolve',
  'POST /operator/payouts/start',
  'POST /operator/payouts/stop',
];

interface Address {
  readonly method: 'get' | 'post';
  readonly path: string;
}

const textOf = ({ method, path: pattern }: Address) => `${method.toUpperCase()} ${pattern}`;
const DASHBOARD_ADDRESSES: readonly Address[] = [startDevelopmentSession, ...DASHBOARD_ROUTES];

interface Listener {
  readonly listener: string;
  readonly routes: readonly Address[];
  readonly addresses: readonly string[];
}

const LISTENERS: readonly Listener[] = [
  { listener: 'dashboard', routes: DASHBOARD_ADDRESSES, addresses: DASHBOARD },
  { listener: 'public API', routes: PUBLIC_ROUTES, addresses: PUBLIC },
  { listener: "operators' API", routes: OPERATOR_ENDPOINTS, addresses: OPERATORS },
];

it.each(LISTENERS)('the $listener has these addresses, and no other', ({ routes, addresses }) => {
  expect(routes.map(textOf).toSorted()).toEqual(addresses);
});

it.each(LISTENERS)('the $listener has a fixed path before a path with a parameter', ({ routes }) => {
  expect(findMaskedRoutes(routes)).toEqual([]);
});

it('a path with a parameter before a fixed one is found, and two that both match a path', () => {
  const at = (pattern: string): Address => ({ method: 'get', path: pattern });
  expect(findMaskedRoutes([at('/a/:id'), at('/a/new')])).toEqual(['GET /a/new after GET /a/:id']);
  expect(findMaskedRoutes([at('/a/:day'), at('/a/:day.csv')])).toEqual(['GET /a/:day.csv after GET /a/:day']);
  expect(findMaskedRoutes([at('/:name/b'), at('/a/:id')])).toEqual(['GET /a/:id after GET /:name/b']);
  expect(findMaskedRoutes([at('/a/:id'), at('/a/:name')])).toEqual(['GET /a/:name after GET /a/:id']);
  expect(findMaskedRoutes([at('/a/new'), at('/a/:id'), { method: 'post', path: '/a/new' }])).toEqual([]);
});

/** Routes that match a path of an earlier route of the same method, unless they match every path of it and others. */
function findMaskedRoutes(routes: readonly Address[]): string[] {
  return routes.flatMap((later, index) => {
    const before = routes.slice(0, index).filter((earlier) => {
      if (earlier.method !== later.method || !overlap(earlier.path, later.path)) return false;
      return !covers(later.path, earlier.path) || covers(earlier.path, later.path);
    });
    return before.map((earlier) => `${textOf(later)} after ${textOf(earlier)}`);
  });
}

/** Whether one pattern matches each path that the other one matches. */
const covers = (general: string, special: string) => everySegment(general, special, coversSegment);

/** Whether a path exists that both patterns match. */
const overlap = (one: string, other: string) =>
  everySegment(one, other, (some, others) => coversSegment(some, others) || coversSegment(others, some));

function everySegment(one: string, other: string, test: (one: string, other: string) => boolean): boolean {
  const [some, others] = [one.split('/'), other.split('/')];
  return some.length === others.length && some.every((segment, index) => test(segment, others[index] ?? ''));
}

function coversSegment(general: string, special: string): boolean {
  const text = general.replaceAll('.', String.raw`\.`).replaceAll(/:\w+/g, '.+');
  return new RegExp(`^${text}$`).test(special);
}

/** What `pagePath` returns. */
interface PagePath {
  readonly pattern: string;
  to(parts: Readonly<Record<string, string>>): string;
  read(parts: Readonly<Record<string, unknown>>): object;
}

const isPagePath = (value: unknown): value is PagePath =>
  typeof value === 'object' && value !== null && 'pattern' in value && 'to' in value && 'read' in value;

/** Every exported path of the dashboard, also those in a table of actions. */
async function loadPagePaths(): Promise<PagePath[]> {
  const files = readSources().filter(
    ({ file, text }) => file.startsWith('src/web/dashboard/') && /pagePath\(/.test(text),
  );
  const modules = await Promise.all(
    files.map(async ({ file }): Promise<unknown> => import(path.join(PACKAGE_ROOT, file))),
  );
  const exported = modules.flatMap(insideOf);
  return [...exported, ...exported.flatMap(insideOf)].filter(isPagePath);
}

function insideOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

const uuid = fc.uuid();
/** Values of each part of a path. Those of `request` and `token` have characters that a path cannot have. */
const PARTS: Readonly<Partial<Record<string, fc.Arbitrary<string>>>> = {
  code: fc.stringMatching(/^[0-9A-HJKMNP-TV-Z]{8}$/),
  ref: fc.oneof(uuid, fc.stringMatching(/^LN[0-9A-HJKMNP-TV-Z]{16}$/)),
  link: fc.oneof(uuid, fc.stringMatching(/^LK[0-9A-HJKMNP-TV-Z]{16}$/)),
  day: fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }).map(dayOf),
  request: fc.stringMatching(/^[\x21-\x7e]{1,128}$/),
  token: fc.string({ unit: 'grapheme', minLength: 1 }),
  key: uuid,
  endpoint: uuid,
  delivery: uuid,
  account: uuid,
  invitation: uuid,
  user: uuid,
  number: fc.stringMatching(/^(FI|CN)-\d{4}-\d{6,9}$/),
};

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 'YYYY-MM-DD'.length);
}

const nameOf = (part: string) => part.slice(1);

function partsOf(pattern: string): fc.Arbitrary<Record<string, string>> {
  const names = (pattern.match(/:\w+/g) ?? []).map(nameOf);
  const values = names.map((name) => {
    const value = PARTS[name];
    if (value === undefined) throw new Error(`This test knows no values of :${name}`);
    return value.map((text) => [name, text] as const);
  });
  return fc.tuple(...values).map((entries) => Object.fromEntries(entries));
}

/** The parts that Express finds in a path; undefined: the pattern does not match. */
function partsInRequest(pattern: string, url: string): Readonly<Record<string, unknown>> | undefined {
  let found: Readonly<Record<string, unknown>> | undefined;
  const app = express().get(pattern, ({ params }) => {
    found = params;
  });
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url });
  app(request, new ServerResponse(request));
  return found;
}

it('the page paths are those of the routes', async () => {
  const patterns = new Set((await loadPagePaths()).map(({ pattern }) => pattern));
  const routes = DASHBOARD_ADDRESSES.map((route) => route.path);
  expect([...patterns].filter((pattern) => !routes.includes(pattern))).toEqual([]);
  const ofMerchant = routes.filter((route) => route.startsWith('/m/'));
  expect(ofMerchant.filter((route) => !patterns.has(route))).toEqual([]);
});

it('each page path gives back the parts with which it was built', async () => {
  for (const page of await loadPagePaths()) {
    const isSame = (parts: Record<string, string>) => {
      expect(page.read(partsInRequest(page.pattern, page.to(parts)) ?? {})).toEqual(parts);
    };
    fc.assert(fc.property(partsOf(page.pattern), isSame), { numRuns: 50 });
  }
});
