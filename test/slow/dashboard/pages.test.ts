import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { createSealer } from '../../../src/crypto/sealing';
import { replaceLogo } from '../../../src/db/merchants/merchant-logos';
import type { StepActor } from '../../../src/domain/actor';
import { feeOf } from '../../../src/domain/fees';
import { PAYMENT_STATUSES } from '../../../src/domain/payment-transitions';
import { dayInWib } from '../../../src/domain/wib';
import { shrinkImage } from '../../../src/lib/shrink-image';
import { type NewKey } from '../../../src/services/merchants/keys/api-key';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { archiveRow } from '../../support/archive-row';
import { prepareBankAccount } from '../../support/bank-accounts';
import {
  decodeQr,
  findAccessibilityViolations,
  findUnreachableControls,
  openPage,
  startBrowser,
  type WatchedPage,
} from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { issueKey, revokeAsOperator } from '../../support/keys';
import { createTestLink } from '../../support/payment-links';
import { createPage } from '../../support/payment-page';
import { addLines, applyPayout, preparePayouts } from '../../support/payouts';
import { createMember, createShop, signInMany } from '../../support/people';
import { fillTotals, seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { insertInvoice } from '../../support/shown-invoices';
import { inviteAt, resetAt } from '../../support/team';
import { disable, registerEndpoint } from '../../support/webhooks';

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let home: string;
const references = new Map<string, string>();

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  await seedPayments(service.db, service.merchantId, {
    count: 120,
    from: '2026-11-01T00:00:00Z',
    rareOneIn: 3,
    sameReference: 3,
  });
  await service.db.query("update provider_accounts set status = 'disabled' where base_url <> $1", [service.sandboxUrl]);
  const { rows } = await service.db.query<{ status: string; reference: string }>(
    "select status, min(reference_id) as reference from payments where provider = 'gopay' group by status",
  );
  for (const { status, reference } of rows) references.set(status, reference);
  const { rows: merchants } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  dashboard = await startTestDashboard(service);
  home = `${dashboard.url}/m/${merchants[0]?.code}`;
  await createMember(service.db, 'empty@shop.test', [[(await createShop(service.db)).id, 'owner']]);
  await createMember(service.db, 'none@shop.test');
  await createMember(service.db, 'reader@shop.test', [[service.merchantId, 'viewer']]);
});
afterAll(async () => {
  await dashboard.close();
  await browser.close();
  await service.close();
});

const payment = (status: string) => `${home}/payments/${references.get(status)}`;

async function invitationTo(email: string): Promise<string> {
  const { id: merchantId } = await createShop(service.db);
  const request = { merchantId, email, role: 'finance', createdBy: 'cli:test' } as const;
  return `${dashboard.url}/invitations/${(await inviteAt(service.db, request, new Date())).token}`;
}

async function openInvitation(): Promise<string> {
  const request = { merchantId: service.merchantId, email: 'sri@shop.test', role: 'finance' } as const;
  return (await inviteAt(service.db, { ...request, createdBy: 'cli:test' }, new Date())).id;
}

let memberId: string | undefined;

/** A page of the team, which has another member and an invitation. */
async function teamPage(path: string): Promise<string> {
  await openInvitation();
  memberId ??= await createMember(service.db, 'member@shop.test', [[service.merchantId, 'viewer']]);
  return `${home}/team${path.replace(':user', memberId)}`;
}

async function resetOf(email: string): Promise<string> {
  const { rows } = await service.db.query<{ id: string }>('select id from users where email = $1', [email]);
  const request = { userId: rows[0]?.id ?? '', createdBy: 'cli:test', merchantId: null };
  return `${dashboard.url}/reset/${(await resetAt(service.db, request, new Date())).token}`;
}

/** One action of each outcome. */
async function recordActions(): Promise<void> {
  await service.db.query(
    `with action as (
       insert into user_actions (actor, via, user_id, merchant_id, action, target, address)
       select 'user:' || users.id, 'dashboard', users.id, $1, recorded, gen_random_uuid(), '2001:db8::ffff:203:113'
       from users, unnest(array['payment.create', 'key.rotate', 'member.reset', 'webhook.rotate_secret']) recorded
       where email = $2 returning id
     )
     insert into user_action_outcomes (action_id, outcome)
     select id, (array['succeeded', 'rejected', 'indeterminate'])[1 + id % 3] from action`,
    [service.merchantId, DEMO_OWNER_EMAIL],
  );
}

/** The page of a passkey of the demo owner. */
async function passkeyPath(): Promise<string> {
  await service.db.query(
    `insert into passkeys
       (id, user_id, realm, credential_id, public_key, counter, rp_id, name, is_backed_up, created_at)
     select gen_random_uuid(), id, realm, 'pages', 'x', 0, 'localhost', 'Ponsel', true, now()
     from users where email = $1
     on conflict do nothing`,
    [DEMO_OWNER_EMAIL],
  );
  const { rows } = await service.db.query<{ id: string }>("select id from passkeys where credential_id = 'pages'");
  return `${dashboard.url}/profile/security/passkeys/${rows[0]?.id}`;
}

/** The page of the checkout's look, with a colour and a logo. */
async function appearancePage(query: string): Promise<string> {
  const logo = await shrinkImage(await readFile('docs/images/dashboard-qr-phone.png'), 256);
  if (typeof logo === 'string') throw new Error(logo);
  const { merchantId } = service;
  await service.db.query("update merchants set accent = '#ffd500' where id = $1", [merchantId]);
  await replaceLogo(service.db, merchantId, logo);
  return `${home}/settings/checkout${query}`;
}

/** How far the browser is that opens a page of the sign-in; null: it has no session. */
const STAGES: Readonly<Record<string, 'password' | 'enrol' | 'full' | null>> = {
  'get /login': null,
  'get /login/code': 'password',
  'get /login/enrol': 'enrol',
  'get /invitations/:token': null,
  'get /reset/:token': null,
  // A development session needs no step-up.
  'get /step-up': 'full',
};

/** A browser of this stage of the sign-in. */
async function openInStage(stage: 'password' | 'enrol' | 'full' | null) {
  const opened = await openPage(browser, 'about:blank');
  if (stage !== null) {
    await dashboard.signIn(opened.page.context(), DEMO_OWNER_EMAIL);
    await service.db.query(
      `update sessions set stage = $1, method = 'password', stepped_up_at = null
       where id = (select id from sessions order by created_at desc, id desc limit 1)`,
      [stage],
    );
  }
  return opened;
}

/** The page of a request that the demo merchant makes now. */
async function requestPage(path: string): Promise<string> {
  const id = randomUUID();
  const [method, body] = path === '/payments' ? ['POST', { amount: 50_000 }] : ['GET', undefined];
  await service.call(method ?? '', path || '/transactions', body, { 'x-request-id': id });
  await untilRecorded('request_id = $1', id);
  return `${home}/developers/requests/${id}`;
}

/** The page of a new once-link, or of one with these fields. */
async function linkPage(fields: Readonly<Record<string, unknown>>): Promise<string> {
  return `${home}/links/${(await createTestLink(service, fields)).referenceId}`;
}

const inAWeek = () => `${new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 19)}Z`;

/** A payment whose page names the key of its request. */
async function paymentOfApi(): Promise<string> {
  const { paymentId, referenceId } = await createPage(service);
  await untilRecorded('payment_ids @> array[$1::uuid]', paymentId);
  return `${home}/payments/${referenceId}`;
}

async function untilRecorded(condition: string, value: string): Promise<void> {
  await eventually(
    () => service.db.query(`select from api_requests where ${condition}`, [value]),
    ({ rows }) => rows.length > 0,
  );
}

/** The page of a new key. */
async function keyPage(key: Partial<NewKey>, isRevoked = false): Promise<string> {
  const created = { ...key, merchantId: service.merchantId, environment: 'sandbox' } as const;
  const { id } = await issueKey(service.db, created);
  if (isRevoked) await revokeAsOperator(service.db, id);
  return `${home}/developers/keys/${id}`;
}

/** The page of a new endpoint. */
async function endpointPage(state: 'enabled' | 'disabled' | 'failing' = 'enabled'): Promise<string> {
  const url = `http://127.0.0.1:9/${'a-long-path-'.repeat(12)}`;
  const endpoint = { merchantId: service.merchantId, url, events: [] } as const;
  const { id } = await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
  if (state === 'disabled') await disable(service.db, id);
  if (state === 'failing') {
    await service.db.query(
      `update webhook_endpoints set consecutive_failures = 20, failing_since = now(), next_probe_at = now() + '1 h'
       where id = $1`,
      [id],
    );
  }
  return `${home}/developers/webhooks/${id}`;
}

/** The page of a dead delivery, whose receiver sent markup. */
async function deliveryPage(): Promise<string> {
  const { rows } = await service.db.query<{ id: string }>(
    `with event as (
       insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
       select payment_id, transition.version, 'payment.created', '{"event":"payment.created"}', now()
       from payment_transitions transition join payments on payments.id = payment_id
       where merchant_id = $1 and not exists (
         select from webhook_events where payment_id = transition.payment_id and payment_version = transition.version)
       limit 1 returning payment_id, payment_version
     ), delivery as (
       insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status,
         dead_reason, finished_at, attempts_total)
       select gen_random_uuid(), payment_id, payment_version, $2, $1, 'payment.created', 'dead', 'attempts_exhausted',
         now(), 1 from event
       returning id
     )
     insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code, failure, response_excerpt)
     select id, 1, now(), 84, 500, 'the receiver returned 500', '<script>alert(1)</script>' || repeat('W', 400)
     from delivery returning delivery_id as id`,
    [service.merchantId, (await endpointPage()).split('/').at(-1)],
  );
  return `${home}/developers/deliveries/${rows[0]?.id}`;
}

/** A page that is signed in, and what the browser has to say against it. */
async function openSignedIn(url: string, email = DEMO_OWNER_EMAIL, options = {}) {
  const opened = await openPage(browser, 'about:blank', options);
  await dashboard.signIn(opened.page.context(), email);
  await opened.page.goto(url, { waitUntil: 'load' });
  return opened;
}

const WIDTHS = [320, 1280];
/** The second scheme has other colours only. */
const SCHEMES = [
  { scheme: 'light', rules: undefined },
  { scheme: 'dark', rules: ['color-contrast', 'link-in-text-block'] },
] as const;
/** By width: the browser lays a page out anew for each width, and not for a scheme. */
const VARIANTS = WIDTHS.flatMap((width) => SCHEMES.map(({ scheme, rules }) => ({ scheme, rules, width })));

const PAYOUTS = {
  'own request': [],
  waiting: [],
  approved: ['approve'],
  completed: ['approve', 'submit', 'complete'],
  failed: ['approve', 'submit', 'fail'],
  returned: ['approve', 'submit', 'complete', 'return'],
} as const;

let payouts: ReturnType<typeof preparePayouts> | undefined;

/** Another member may approve payouts. */
async function preparePayoutPages() {
  await createMember(service.db, 'finance@shop.test', [[service.merchantId, 'finance']]);
  return preparePayouts(service, service.merchantId);
}

/** The page of a payout of two lines, in a state. */
async function payoutPage(state: keyof typeof PAYOUTS, suffix = ''): Promise<string> {
  const prepared = await (payouts ??= preparePayoutPages());
  await addLines(prepared, [1_250_000, 49_650]);
  const { rows } = await service.db.query<{ id: string }>('select id from users where email = $1', [DEMO_OWNER_EMAIL]);
  const members: Readonly<Partial<Record<string, string>>> = { 'own request': rows[0]?.id, waiting: randomUUID() };
  const member = members[state];
  const by: StepActor = { name: member === undefined ? 'schedule' : `user:${member}` };
  const { referenceId } = await applyPayout(prepared, PAYOUTS[state], { by });
  return `${home}/payouts/${referenceId}${suffix}`;
}

/** The states of each page, by its route: a route without a line is red. */
async function bankAccountPage(
  status: Parameters<typeof prepareBankAccount>[2],
  pathOf: (id: string) => string = () => '',
): Promise<string> {
  const id = await prepareBankAccount(service, service.merchantId, status);
  return `${home}/bank-account${pathOf(id)}`;
}

async function proposedSchedule(): Promise<string> {
  const colleague = await createMember(service.db, 'colleague@shop.test', [[service.merchantId, 'finance']]);
  await service.db.query(
    `insert into proposed_payout_settings
       (id, merchant_id, schedule, weekday, minimum_rupiah, proposed_by, proposed_at)
     values (gen_random_uuid(), $1, 'weekly', 1, 50000, 'user:' || $2::uuid, now())`,
    [service.merchantId, colleague],
  );
  return `${home}/payouts/schedule/proposal`;
}

const STATES: Readonly<Record<string, Readonly<Record<string, () => Promise<string> | string>>>> = {
  'get /': { 'a user of no merchant': () => dashboard.url },
  'get /login': { 'a form': () => `${dashboard.url}/login?then=/profile` },
  'get /login/code': { 'a code': () => `${dashboard.url}/login/code` },
  'get /login/enrol': { 'a secret': () => `${dashboard.url}/login/enrol` },
  'get /invitations/:token': {
    'a new user': () => invitationTo('new@shop.test'),
    'a known user': () => invitationTo(DEMO_OWNER_EMAIL),
    unknown: () => `${dashboard.url}/invitations/lnk_unknown`,
  },
  'get /reset/:token': {
    'a password': () => resetOf('none@shop.test'),
    unknown: () => `${dashboard.url}/reset/lnk_unknown`,
  },
  'get /step-up': {
    'a password': () => `${dashboard.url}/step-up`,
    'a passkey': async () => (await passkeyPath()) && `${dashboard.url}/step-up`,
  },
  'get /profile': { 'a form': () => `${dashboard.url}/profile?done=profile` },
  'get /profile/security': {
    sessions: () => `${dashboard.url}/profile/security`,
    passkeys: async () => (await passkeyPath()) && `${dashboard.url}/profile/security`,
  },
  'get /profile/security/password': { 'a form': () => `${dashboard.url}/profile/security/password` },
  'get /profile/security/totp': { 'a secret': () => `${dashboard.url}/profile/security/totp` },
  'get /profile/security/passkeys/new': { 'a form': () => `${dashboard.url}/profile/security/passkeys/new` },
  'get /profile/security/passkeys/:id': {
    'a form': passkeyPath,
    unknown: () => `${dashboard.url}/profile/security/passkeys/unknown`,
  },
  'get /profile/security/passkeys/:id/remove': { 'a question': async () => `${await passkeyPath()}/remove` },
  'get /profile/security/recovery-codes': {
    'a question': () => `${dashboard.url}/profile/security/recovery-codes`,
  },
  'get /m/:code': {
    'with payments': async () => {
      await fillTotals(service.db, service.merchantId);
      return home;
    },
    '7 days': () => `${home}?range=7d`,
    '30 days': () => `${home}?range=30d`,
    'own changes': async () => {
      const { rows } = await service.db.query<{ id: string }>('select id from users where email = $1', [
        DEMO_OWNER_EMAIL,
      ]);
      const createdBy = { kind: 'merchant_user', id: rows[0]?.id ?? '' } as const;
      for (let count = 0; count < 4; count += 1) await keyPage({ name: 'A key of the owner', createdBy });
      return home;
    },
  },
  'get /m/:code/payments': {
    all: () => `${home}/payments`,
    'a group': () => `${home}/payments?group=attention`,
    'no match': () => `${home}/payments?q=unknown`,
    'a filter that is not possible': () => `${home}/payments?from=yesterday`,
  },
  'get /m/:code/counter': { 'a form': () => `${home}/counter` },
  'get /m/:code/counter/shift': {
    'without payments': () => `${home}/counter/shift`,
    'a time that is not possible': () => `${home}/counter/shift?from=2026-11-01T00:00&to=2026-12-01T00:00`,
  },
  'get /offline': { 'no connection': () => `${dashboard.url}/offline` },
  'get /m/:code/payments/new': { 'a form': () => `${home}/payments/new` },
  'get /m/:code/invoices': { nothing: () => `${home}/invoices` },
  'get /m/:code/invoices/:number': {
    issued: async () => `${home}/invoices/${(await insertInvoice(service, service.merchantId)).number}`,
  },
  'get /m/:code/links': {
    nothing: () => `${home}/links?status=expired`,
    'with links': async () => (await linkPage({ title: 'Kopi susu', amount: 20_000 }), `${home}/links`),
    'a filter that is not possible': () => `${home}/links?status=open`,
  },
  'get /m/:code/links/new': { 'a form': () => `${home}/links/new` },
  'get /m/:code/links/:link': {
    once: () => linkPage({ title: 'Invoice 1042', amount: 50_000, merchant_reference_id: 'ORDER-1042' }),
    'open, with an end': () => linkPage({ kind: 'reusable', title: 'Donation', expires_at: inAWeek() }),
  },
  'get /m/:code/links/:link/close': { possible: async () => `${await linkPage({ title: 'Kopi', amount: 9 })}/close` },
  'get /m/:code/links/:link/card': { 'a sheet': async () => `${await linkPage({ title: 'Kopi', amount: 9 })}/card` },
  'get /m/:code/payments/:ref': {
    ...Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, () => payment(status)])),
    'created by the API': paymentOfApi,
    unknown: () => `${home}/payments/LN00000000000000000`,
    archived: async () =>
      `${home}/payments/${(await archiveRow(service.db, service.merchantId, '2026-01-30')).referenceId}`,
  },
  'get /m/:code/payments/:ref/customer': { 'without data': () => `${payment('paid')}/customer` },
  'get /m/:code/payments/:ref/qr': {
    open: async () => `${home}/payments/${(await createPage(service)).referenceId}/qr`,
    paid: () => `${payment('paid')}/qr`,
    'paid at the counter': () => `${payment('paid')}/qr?from=counter`,
    ended: () => `${payment('expired')}/qr`,
  },
  'get /m/:code/payments/:ref/slip': {
    paid: () => `${payment('paid')}/slip`,
    ended: () => `${payment('expired')}/slip`,
  },
  'get /m/:code/payments/:ref/refund': {
    possible: () => `${payment('paid')}/refund`,
    rejected: () => `${payment('settled')}/refund`,
  },
  'get /m/:code/payments/:ref/cancel': { rejected: () => `${payment('settled')}/cancel` },
  'get /m/:code/balance': { 'without lines': () => `${home}/balance` },
  'get /m/:code/balance/statement': {
    'of days without lines': () => `${home}/balance/statement?from=2026-11-01&to=2026-11-30`,
    'of days that are not possible': () => `${home}/balance/statement?from=2026-11-02&to=2026-11-01`,
  },
  'get /m/:code/balance/days/:day': { 'without lines': () => `${home}/balance/days/${dayInWib(new Date())}` },
  'get /m/:code/bank-account': {
    nothing: () => `${home}/bank-account`,
    'asking the bank': () => bankAccountPage('pending_inquiry'),
    rejected: () => bankAccountPage('rejected'),
    'waiting for Lunas': () => bankAccountPage('pending_approval'),
    'in its cool-down': async () => `${await bankAccountPage('active')}?done=added`,
    suspended: () => bankAccountPage('suspended'),
  },
  'get /m/:code/bank-account/new': {
    rejected: () => bankAccountPage('pending_inquiry', () => '/new'),
    'a form': () => bankAccountPage('active', () => '/new'),
  },
  'get /m/:code/bank-account/:account/confirm': {
    rejected: () => bankAccountPage('pending_approval', (id) => `/${id}/confirm`),
  },
  'get /m/:code/bank-account/:account/withdraw': {
    possible: () => bankAccountPage('pending_approval', (id) => `/${id}/withdraw`),
    rejected: () => bankAccountPage('active', (id) => `/${id}/withdraw`),
  },
  'get /m/:code/bank-account/:account/disable': {
    possible: () => bankAccountPage('active', (id) => `/${id}/disable`),
  },
  'get /m/:code/payouts': {
    nothing: () => `${home}/payouts`,
    'a filter that is not possible': () => `${home}/payouts?status=x&from=2026-12-01&to=2026-01-01`,
    'with payouts': async () => {
      await payoutPage('own request');
      await payoutPage('returned');
      return `${home}/payouts`;
    },
    'no match': () => `${home}/payouts?status=submitted`,
  },
  'get /m/:code/payouts/new': {
    // The payout has claimed the balance.
    rejected: async () => (await payoutPage('waiting')) && `${home}/payouts/new`,
    possible: async () => (await payoutPage('failed')) && `${home}/payouts/new`,
  },
  'get /m/:code/payouts/schedule': { 'a form': () => `${home}/payouts/schedule` },
  'get /m/:code/payouts/schedule/proposal': { waiting: proposedSchedule },
  'get /m/:code/payouts/:ref/approve': {
    possible: () => payoutPage('waiting', '/approve'),
    'own request': () => payoutPage('own request', '/approve'),
  },
  'get /m/:code/payouts/:ref/cancel': {
    possible: () => payoutPage('waiting', '/cancel'),
    rejected: () => payoutPage('completed', '/cancel'),
  },
  'get /m/:code/payouts/:ref': {
    'own request': () => payoutPage('own request'),
    waiting: () => payoutPage('waiting'),
    approved: () => payoutPage('approved'),
    completed: () => payoutPage('completed'),
    failed: () => payoutPage('failed'),
    returned: () => payoutPage('returned'),
  },
  'get /m/:code/payments/:ref/refund/cancel': { possible: () => `${payment('refund_processing')}/refund/cancel` },
  'get /m/:code/team': {
    'members and an invitation': () => teamPage(''),
    'more members than a page has': async () => {
      await signInMany(service.db, service.merchantId, 50);
      return teamPage('');
    },
  },
  'get /m/:code/team/invite': { 'a form': () => `${home}/team/invite?email=sri@shop.test&role=finance` },
  'get /m/:code/team/invitations/:invitation/withdraw': {
    'a question': async () => `${home}/team/invitations/${await openInvitation()}/withdraw`,
  },
  'get /m/:code/activity': {
    'some actions': async () => {
      await recordActions();
      return `${home}/activity`;
    },
    'no match': () => `${home}/activity?action=key.revoke&from=2020-01-01&to=2020-01-02`,
    'a filter that is not possible': () => `${home}/activity?person=x&from=2026-12-01&to=2026-01-01`,
  },
  'get /m/:code/settings/checkout': {
    'a colour and a logo': () => appearancePage('?done=logo'),
    'a wrong colour': () => appearancePage('?accent=red'),
  },
  'get /m/:code/settings': {
    'that can be changed': () => `${home}/settings?done=saved`,
    'read only': () => `${home}/settings`,
  },
  'get /m/:code/settings/edit': { 'a form': () => `${home}/settings/edit` },
  'get /m/:code/team/:user': { 'another member': () => teamPage('/:user') },
  'get /m/:code/team/:user/role': {
    'a change': () => teamPage('/:user/role?role=finance'),
    'no change': () => teamPage('/:user/role?role=viewer'),
  },
  'get /m/:code/team/:user/remove': { 'a question': () => teamPage('/:user/remove') },
  'get /m/:code/team/:user/reset': { 'a question': () => teamPage('/:user/reset') },
  'get /m/:code/developers/keys': { 'with keys': () => `${home}/developers/keys` },
  'get /m/:code/developers/deliveries': {
    'with deliveries': async () => {
      await deliveryPage();
      return `${home}/developers/deliveries?status=dead&redelivered=1`;
    },
    'a filter that is not possible': () => `${home}/developers/deliveries?from=yesterday`,
  },
  'get /m/:code/developers/deliveries/redeliver': {
    possible: () => `${home}/developers/deliveries/redeliver?from=2026-01-01&to=2099-01-01`,
    rejected: () => `${home}/developers/deliveries/redeliver`,
  },
  'get /m/:code/developers/deliveries/:delivery': { dead: () => deliveryPage() },
  'get /m/:code/developers/webhooks': {
    'with endpoints': async () => {
      await endpointPage('failing');
      return `${home}/developers/webhooks?done=deleted`;
    },
  },
  'get /m/:code/developers/webhooks/new': { 'a form': () => `${home}/developers/webhooks/new` },
  'get /m/:code/developers/webhooks/:endpoint': {
    enabled: async () => `${await endpointPage()}?done=saved`,
    failing: () => endpointPage('failing'),
    disabled: () => endpointPage('disabled'),
  },
  'get /m/:code/developers/webhooks/:endpoint/edit': { 'a form': async () => `${await endpointPage()}/edit` },
  'get /m/:code/developers/webhooks/:endpoint/rotate': { possible: async () => `${await endpointPage()}/rotate` },
  'get /m/:code/developers/webhooks/:endpoint/ping': { possible: async () => `${await endpointPage()}/ping` },
  'get /m/:code/developers/webhooks/:endpoint/disable': {
    possible: async () => `${await endpointPage()}/disable`,
    rejected: async () => `${await endpointPage('disabled')}/disable`,
  },
  'get /m/:code/developers/webhooks/:endpoint/enable': {
    possible: async () => `${await endpointPage('disabled')}/enable`,
  },
  'get /m/:code/developers/webhooks/:endpoint/delete': { possible: async () => `${await endpointPage()}/delete` },
  'get /m/:code/developers/keys/new': { 'a form': () => `${home}/developers/keys/new` },
  'get /m/:code/developers/keys/:key': {
    active: () => keyPage({ name: 'Shop server', allowedNetworks: ['203.0.113.7', '2001:db8::/32'] }),
    'just saved': async () => `${await keyPage({ allowedNetworks: ['203.0.113.7'] })}?done=saved`,
    'long name': () => keyPage({ name: 'W'.repeat(64), expiresAt: new Date(Date.now() + 60_000) }),
    revoked: () => keyPage({ name: 'Old server' }, true),
  },
  'get /m/:code/developers/keys/:key/edit': { 'a form': async () => `${await keyPage({ name: 'Edited' })}/edit` },
  'get /m/:code/developers/keys/:key/rotate': {
    possible: async () => `${await keyPage({ name: 'Rotated' })}/rotate`,
    rejected: async () => `${await keyPage({}, true)}/rotate`,
  },
  'get /m/:code/developers/requests': {
    'some requests': () => requestPage('').then(() => `${home}/developers/requests`),
    'no match': () => `${home}/developers/requests?status=failed&from=2020-01-01&to=2020-01-02`,
    'a filter that is not possible': () => `${home}/developers/requests?from=2026-12-01&to=2026-01-01&key=x`,
  },
  'get /m/:code/developers/requests/:request': {
    accepted: () => requestPage('/payments'),
    rejected: () => requestPage(`/payments/${'x'.repeat(180)}`),
  },
  'get /m/:code/developers/keys/:key/revoke': {
    possible: async () => `${await keyPage({})}/revoke`,
    rejected: async () => `${await keyPage({}, true)}/revoke`,
  },
};

/** No pages: what a form sends, a stream and an image. Their tests follow below and in requests.test.ts. */
const OTHER_ROUTES = [
  'get /m/:code/payouts.csv',
  'get /m/:code/payouts/:ref/lines.csv',
  'post /m/:code/payouts/new',
  'post /m/:code/payouts/schedule',
  'post /m/:code/payouts/schedule/proposal',
  'post /m/:code/payouts/:ref/approve',
  'post /m/:code/payouts/:ref/cancel',
  'post /m/:code/bank-account/new',
  'post /m/:code/bank-account/:account/confirm',
  'post /m/:code/bank-account/:account/withdraw',
  'post /m/:code/bank-account/:account/disable',
  'post /m/:code/team/invite',
  'post /m/:code/team/invitations/:invitation/withdraw',
  'post /m/:code/settings/edit',
  'post /m/:code/settings/checkout',
  'post /m/:code/settings/checkout/logo',
  'post /m/:code/settings/checkout/logo/remove',
  'get /m/:code/settings/checkout/logo.png',
  'post /m/:code/team/:user/role',
  'post /m/:code/team/:user/remove',
  'post /m/:code/team/:user/reset',
  'post /m/:code/notices/close',
  'post /m/:code/developers/deliveries/redeliver',
  'post /m/:code/developers/deliveries/:delivery/redeliver',
  'post /m/:code/developers/webhooks/new',
  'post /m/:code/developers/webhooks/:endpoint/edit',
  'post /m/:code/developers/webhooks/:endpoint/rotate',
  'post /m/:code/developers/webhooks/:endpoint/ping',
  'post /m/:code/developers/webhooks/:endpoint/disable',
  'post /m/:code/developers/webhooks/:endpoint/enable',
  'post /m/:code/developers/webhooks/:endpoint/delete',
  'post /m/:code/developers/keys/new',
  'post /m/:code/developers/keys/:key/edit',
  'post /m/:code/developers/keys/:key/rotate',
  'post /m/:code/developers/keys/:key/revoke',
  'post /logout',
  'post /language',
  'post /login',
  'post /login/code',
  'post /login/passkey',
  'post /login/passkey/finish',
  'post /login/enrol/passkey',
  'post /login/enrol/passkey/finish',
  'post /login/enrol',
  'post /invitations/:token',
  'post /invitations/:token/join',
  'post /reset/:token',
  'post /step-up',
  'post /step-up/passkey',
  'post /step-up/passkey/finish',
  'post /profile',
  'post /profile/security/sessions/end',
  'post /profile/security/sessions/end-others',
  'post /profile/security/password',
  'post /profile/security/totp',
  'post /profile/security/recovery-codes',
  'post /profile/security/passkeys',
  'post /profile/security/passkeys/new',
  'post /profile/security/passkeys/:id',
  'post /profile/security/passkeys/:id/remove',
  'post /m/:code/counter',
  'get /m/:code/counter/shift.csv',
  'get /counter-worker.js',
  'get /counter.webmanifest',
  'post /m/:code/payments/new',
  'post /m/:code/links/new',
  'post /m/:code/links/:link/close',
  'get /m/:code/payments.csv',
  'get /m/:code/activity.csv',
  'get /m/:code/balance/days/:day.csv',
  'get /m/:code/balance/statement.csv',
  'get /m/:code/invoices/:number.pdf',
  'get /m/:code/invoices/:number.csv',
  'get /m/:code/payments/:ref/events',
  'get /m/:code/payments/:ref/qris.png',
  'post /m/:code/payments/:ref/refund',
  'post /m/:code/payments/:ref/cancel',
  'post /m/:code/payments/:ref/refund/cancel',
];

it('each route has a test', () => {
  const routes = DASHBOARD_ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(routes.toSorted()).toEqual([...Object.keys(STATES), ...OTHER_ROUTES].toSorted());
});

/** Who opens the page, if it is not the demo owner. */
const OTHER_USERS: Readonly<Record<string, string>> = {
  'get /, a user of no merchant': 'none@shop.test',
  'get /m/:code/settings, read only': 'reader@shop.test',
};
/** With `SCREENSHOTS`, a directory, the pages can be looked at. */
async function takeScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env.SCREENSHOTS;
  if (directory === undefined) return;
  const file = `${name.replaceAll(/[^\w]+/g, '-')}.png`;
  await page.screenshot({ path: path.join(directory, file), fullPage: true });
}

/** What only a script shows, hides or changes. */
const OF_SCRIPTS =
  '[data-copy], [data-key], [data-voice], ' +
  '[data-share], [data-print], [data-needs-passkey], [data-no-passkey], [data-left-ms]';

/** The secret of an authenticator app, and digits, of which times consist: they differ between two requests. */
const OF_REQUESTS = /[A-Z2-7]{4}(?: [A-Z2-7]{4}){7}|\d/g;

async function readTextOfEveryBrowser(page: Page): Promise<string> {
  await page.evaluate(`document.querySelectorAll('${OF_SCRIPTS}').forEach((part) => part.remove())`);
  return (await page.locator('body').innerText()).replaceAll(OF_REQUESTS, '0');
}

/** A browser, and one with the same session that runs no script. */
interface TwoBrowsers {
  readonly opened: WatchedPage;
  readonly withoutScript: Page;
}

async function withoutScriptToo(opened: WatchedPage): Promise<TwoBrowsers> {
  const storageState = await opened.page.context().storageState();
  const other = await openPage(browser, 'about:blank', { javaScriptEnabled: false, storageState });
  return { opened, withoutScript: other.page };
}

const ofUsers = new Map<string, Promise<TwoBrowsers>>();

/** Each user has one for all cases: to start them takes half as long as all the checks of a page. */
function browsersOf(email: string): Promise<TwoBrowsers> {
  const known = ofUsers.get(email) ?? openSignedIn('about:blank', email).then(withoutScriptToo);
  ofUsers.set(email, known);
  return known;
}

/** The amounts that are on more than one line. */
const FIND_BROKEN_AMOUNTS = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
    for (const { 0: amount, index } of text.data.matchAll(/Rp\\u00a0[\\d.]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + amount.length);
      if (range.getClientRects().length > 1) broken.push(amount);
    }
  }
  return broken;
})()`;

const CASES = Object.entries(STATES).flatMap(([route, states]) =>
  Object.keys(states).map((state) => [route, state] as const),
);

describe.each(CASES)('%s, %s', (route, state) => {
  it('a page is accessible, fits, needs no pointer and no script', async () => {
    const url = (await STATES[route]?.[state]?.()) ?? '';
    const email = OTHER_USERS[`${route}, ${state}`] ?? DEMO_OWNER_EMAIL;
    const stage = STAGES[route];
    const browsers = stage === undefined ? browsersOf(email) : openInStage(stage).then(withoutScriptToo);
    const { opened, withoutScript } = await browsers;
    const { page, problems } = opened;
    problems.length = 0;
    await page.goto(url, { waitUntil: 'load' });
    expect(new URL(page.url()).pathname).toBe(new URL(url).pathname);
    expect(await page.locator('h1').count()).toBe(1);
    expect(await page.title()).not.toBe('');
    expect(await page.locator('html').getAttribute('lang')).toMatch(/^(id|en)$/);
    expect(await findUnreachableControls(page)).toEqual([]);
    for (const { scheme, rules, width } of VARIANTS) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      expect([scheme, width, await findAccessibilityViolations(page, rules)]).toEqual([scheme, width, []]);
      expect([scheme, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([scheme, width]);
      expect([width, await page.evaluate(FIND_BROKEN_AMOUNTS)]).toEqual([width, []]);
      await takeScreenshot(page, `${route} ${state} ${width} ${scheme}`);
    }
    // Chromium reports each document that is not 200.
    expect(problems.filter((problem) => !/\b(404|422)\b/.test(problem))).toEqual([]);
    await withoutScript.goto(page.url(), { waitUntil: 'load' });
    expect(await readTextOfEveryBrowser(withoutScript)).toBe(await readTextOfEveryBrowser(page));
  });
});

it('a merchant without payments sees what to do first, and no filter of an empty list', async () => {
  const { page, close } = await openSignedIn(dashboard.url, 'empty@shop.test');
  await page.getByText(DASHBOARD_TEXTS.en.list.nothing).waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
  const shop = page.url();
  for (const list of ['payments', 'links', 'payouts', 'developers/requests', 'developers/deliveries']) {
    await page.goto(`${shop}/${list}`, { waitUntil: 'load' });
    expect([list, await page.locator('main').locator('form, .tabs').count()]).toEqual([list, 0]);
  }
  await close();
});

it('the printed link opens the signed-in dashboard by one click, once', async () => {
  const link = await dashboard.link(DEMO_OWNER_EMAIL);
  const first = await openPage(browser, link);
  expect(first.page.url()).toBe(home);
  expect(first.problems).toEqual([]);
  await first.close();
  const second = await openPage(browser, link);
  await second.page.getByText('npx lunas users link').waitFor();
  await second.close();
});

/** Takes a payment, refunds it and cancels the refund, as a shop without developers does. */
async function takeAndRefund(page: Page): Promise<void> {
  const texts = DASHBOARD_TEXTS.en;
  await page.goto(`${home}/payments/new`);
  await page.locator('#amount').fill('75.000');
  await page.locator('#order').fill('COUNTER-1');
  await page.locator('#amount').press('Enter');
  await page.waitForURL(/\/qr$/);
  const reference = /payments\/(\w+)\/qr/.exec(page.url())?.[1] ?? '';
  await service.pay(reference);
  await page.locator('.state', { hasText: texts.qr.states.paid }).waitFor({ timeout: 30_000 });
  await untilShown(page, `${home}/payments/${reference}`, texts.statuses.paid);
  await page.getByRole('link', { name: texts.detail.refund, exact: true }).click();
  await page.getByRole('button', { name: /^Refund Rp/ }).click();
  await page.getByText(texts.detail.done.refund_requested).waitFor();
  await page.getByRole('link', { name: texts.detail.cancelRefund }).click();
  await page.getByRole('button', { name: texts.confirm.refundCancel.button }).click();
  await page.getByText(texts.detail.done.refund_cancelled).waitFor();
  await page.getByText(texts.transitions.cancel_refund, { exact: true }).waitFor();
}

/** Without a script the user loads the page again. */
async function untilShown(page: Page, url: string, status: string): Promise<void> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    await page.goto(url);
    if ((await page.locator('.chip').first().textContent())?.includes(status)) return;
  }
  throw new Error(`${url} never showed ${status}`);
}

it.each([true, false])('a cashier takes a payment and refunds it; the browser runs scripts: %s', async (hasScript) => {
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  const { page, problems, close } = await openSignedIn(home, DEMO_OWNER_EMAIL, { javaScriptEnabled: hasScript });
  await takeAndRefund(page);
  expect(problems).toEqual([]);
  await close();
});

it('the card of a link is one sheet of A6, with the longest title', async () => {
  const card = `${await linkPage({ kind: 'reusable', title: 'Katering '.repeat(11) })}/card`;
  const { page, close } = await openSignedIn(card);
  const sheet = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const sizes = [...sheet.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map((size) =>
    size.slice(1, 3).map(Number),
  );
  expect(sizes.map((points) => points.map((size) => Math.round((size / 72) * 25.4)))).toEqual([[105, 148]]);
  await close();
});

it('the QR page has the code of the payment, and none after the deadline', async () => {
  const { referenceId, payload, paymentId } = await createPage(service);
  const { page, close } = await openSignedIn(`${home}/payments/${referenceId}/qr`);
  const file = `${process.env.SCREENSHOTS ?? (await import('node:os')).tmpdir()}/dashboard-qr-${process.pid}.png`;
  await page.screenshot({ path: file, fullPage: true });
  expect(decodeQr(file)).toEqual([payload]);
  await service.db.query("update payments set expires_at = now() - interval '1 s' where id = $1", [paymentId]);
  await page.reload();
  expect(await page.locator('.qr svg').count()).toBe(0);
  await close();
});

it('a page whose script does not load shows that, with the deadline as a time and a way to check again', async () => {
  const { referenceId } = await createPage(service);
  const { page, close } = await openSignedIn(home);
  const notice = page.locator('.script-off');
  await page.goto(`${home}/payments/${referenceId}/qr`);
  expect(await notice.count()).toBe(0);
  await page.route('**/assets/pages-*.js', (route) => route.abort());
  await page.reload();
  await notice.waitFor();
  expect(await page.locator('.qr-card time').first().textContent()).toMatch(/^\d\d:\d\d$/);
  // The ring moves by itself.
  expect(Number(await page.locator('.ring animate').getAttribute('from'))).toBeLessThan(10);
  await service.pay(referenceId);
  await eventually(
    async () => {
      await notice.getByRole('link', { name: 'Check again' }).click();
      await page.waitForLoadState();
      return page.locator('.state.paid').count();
    },
    (count) => count === 1,
  );
  await close();
});

it('the QR page shows a payment although a button is focused, and then the next step has the focus', async () => {
  const { referenceId } = await createPage(service);
  const { page, close } = await openSignedIn(`${home}/payments/${referenceId}/qr`);
  await page.locator('[data-copy]').focus();
  await service.pay(referenceId);
  await page.locator('.state.paid').waitFor({ timeout: 30_000 });
  expect(await page.locator('.qr svg').count()).toBe(0);
  expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(
    `${new URL(home).pathname}/payments/new`,
  );
  expect(await page.locator('#announcement').textContent()).toBe(DASHBOARD_TEXTS.en.qr.states.paid);
  await close();
});

it('a new payment has the focus on its amount, keys on a phone, last amounts, and the net amount', async () => {
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  const desktop = await openSignedIn(`${home}/payments/new`);
  await desktop.page.waitForFunction("document.activeElement.id === 'amount'");
  expect(await desktop.page.locator('.number-keys').isVisible()).toBe(false);
  await desktop.page.keyboard.type('12.345');
  const { rows } = await service.db.query<{ bps: number; flat: number }>(
    'select fee_basis_points as bps, fee_flat_rupiah as flat from policies order by version desc limit 1',
  );
  const rate = { basisPoints: rows[0]?.bps ?? -1, flatRupiah: rows[0]?.flat ?? -1 };
  const net = `You receive Rp\u00a0${(12_345 - feeOf(12_345, { source: 'catalog', ...rate })).toLocaleString('id-ID')}`;
  const result = '.amount-result';
  await desktop.page.locator(result).filter({ hasText: net }).waitFor();
  expect(await desktop.page.locator(result).textContent()).toBe(net);
  await desktop.page.keyboard.press('Enter');
  await desktop.page.waitForURL(/\/qr$/);
  await desktop.close();

  const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } };
  const { page, problems, close } = await openSignedIn(`${home}/payments/new`, DEMO_OWNER_EMAIL, phone);
  for (const key of ['1', '2', '3', '4', '9', 'Delete the last digit', '5']) {
    await page.getByRole('button', { name: key, exact: true }).tap();
  }
  expect(await page.locator('#amount').inputValue()).toBe('12.345');
  expect(await page.locator('#amount').getAttribute('inputmode')).toBe('none');
  await page.locator(result).filter({ hasText: net }).waitFor();
  expect(await page.locator(result).textContent()).toBe(net);
  await takeScreenshot(page, 'new payment phone');
  await page.locator('#amount').fill('20.000.000');
  await page.locator('#amount').fill('Rp 12.345');
  await page.locator(result).filter({ hasText: net }).waitFor();
  await page.locator('#amount').fill('');
  await page.locator('[data-amount="12345"]').tap();
  expect(await page.locator('#amount').inputValue()).toBe('12.345');
  expect(await findAccessibilityViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
  await close();

  const withoutScript = await openSignedIn(home, DEMO_OWNER_EMAIL, { javaScriptEnabled: false });
  await withoutScript.page.goto(`${home}/payments/new`);
  await withoutScript.page.locator('[data-amount="12345"]').click();
  expect(await withoutScript.page.locator('#amount').inputValue()).toBe('12.345');
  expect(await withoutScript.page.locator(result).textContent()).toBe(net);
  await withoutScript.close();
});

/** Printable widths of paper of 58 and 80 mm and of A6, at 96 pixels an inch. */
const PAPER_PIXELS = [181, 272, 373];

it.each(PAPER_PIXELS)(
  'the QR is printed on paper of %i pixels: it fits, on white, and can be scanned',
  async (width) => {
    const { referenceId, payload } = await createPage(service, { merchant_reference_id: 'Meja 7' });
    const options = { colorScheme: 'dark', viewport: { width, height: 560 }, deviceScaleFactor: 4 } as const;
    const { page, close } = await openSignedIn(`${home}/payments/${referenceId}/qr`, DEMO_OWNER_EMAIL, options);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(560);
    const file = `${process.env.SCREENSHOTS ?? (await import('node:os')).tmpdir()}/dashboard-print-${width}.png`;
    await page.screenshot({ path: file, fullPage: true });
    expect(decodeQr(file)).toEqual([payload]);
    expect(await page.locator('.print-only').innerText()).toContain(referenceId);
    expect(await page.locator('.qr-card').innerText()).toContain('Meja 7');
    expect(await page.locator('button:visible, a:visible').count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(23, 33, 28)');
    await close();
  },
);
