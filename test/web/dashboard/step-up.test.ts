import { NOTICE_KINDS, type NoticeKind } from '../../../src/domain/notice-kinds';
import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';

/* docs/security.md: access to the merchant changes only after a fresh proof of identity, and owners notice it. */

const FORMS = DASHBOARD_ROUTES.filter(({ method, path }) => method === 'post' && /^\/(m|profile)\//.test(path));

it('only these forms of a signed-in user need no step-up', () => {
  const without = FORMS.filter(({ stepUp }) => stepUp !== true).map(({ path }) => path);
  expect(without.toSorted()).toEqual([
    '/m/:code/counter',
    '/m/:code/developers/deliveries/:delivery/redeliver',
    '/m/:code/developers/deliveries/redeliver',
    '/m/:code/developers/webhooks/:endpoint/ping',
    '/m/:code/links/:link/close',
    '/m/:code/links/new',
    '/m/:code/notices/close',
    '/m/:code/payments/:ref/cancel',
    '/m/:code/payments/:ref/refund',
    '/m/:code/payments/:ref/refund/cancel',
    '/m/:code/payments/new',
    '/profile/security/sessions/end',
    '/profile/security/sessions/end-others',
  ]);
});

it('the page of a form needs a step-up if the form does', () => {
  const differing = FORMS.filter(({ path, stepUp }) =>
    DASHBOARD_ROUTES.some((route) => route.method === 'get' && route.path === path && route.stepUp !== stepUp),
  );
  expect(differing.map(({ path }) => path)).toEqual([]);
});

/**
 * The notices of each form with a step-up, which test/security/dashboard-role.test.ts has for its statement; or why it
 * has none.
 */
const NOTICES: Readonly<Record<string, readonly NoticeKind[] | string>> = {
  '/m/:code/bank-account/new': ['bank_account.pending_inquiry'],
  '/m/:code/bank-account/:account/confirm': 'its proposal gave one',
  '/m/:code/bank-account/:account/withdraw': ['bank_account.withdrawn'],
  '/m/:code/bank-account/:account/disable': ['bank_account.disabled'],
  '/m/:code/payouts/new': ['payout.waiting_for_approval'],
  '/m/:code/payouts/:ref/approve': 'its request gave one',
  '/m/:code/payouts/:ref/cancel': 'no money goes anywhere',
  '/m/:code/payouts/schedule': ['payout.schedule_proposed', 'payout.schedule_changed'],
  '/m/:code/payouts/schedule/proposal': ['payout.schedule_changed'],
  '/m/:code/developers/keys/new': ['security.key_created'],
  '/m/:code/developers/keys/:key/edit': ['security.key_changed'],
  '/m/:code/developers/keys/:key/rotate': ['security.key_created'],
  '/m/:code/developers/keys/:key/revoke': ['security.key_changed'],
  '/m/:code/developers/webhooks/new': ['security.webhook_changed'],
  '/m/:code/developers/webhooks/:endpoint/edit': ['security.webhook_changed'],
  '/m/:code/developers/webhooks/:endpoint/rotate': ['security.webhook_changed'],
  '/m/:code/developers/webhooks/:endpoint/enable': ['security.webhook_changed'],
  '/m/:code/developers/webhooks/:endpoint/disable': 'it sends nothing any more',
  '/m/:code/developers/webhooks/:endpoint/delete': 'it sends nothing any more',
  '/m/:code/team/invite': 'who joins gives one',
  '/m/:code/team/invitations/:invitation/withdraw': 'it gives access to no one',
  '/m/:code/team/:user/role': ['security.owner_changed', 'security.member_authorised', 'security.member_changed'],
  '/m/:code/team/:user/remove': ['security.owner_changed', 'security.member_changed'],
  '/m/:code/team/:user/reset': ['security.login_reset'],
  '/profile/security/password': ['security.factor_changed'],
  '/profile/security/totp': ['security.factor_changed'],
  '/profile/security/recovery-codes': ['security.factor_changed'],
  '/profile/security/passkeys/new': 'it begins the next one',
  '/profile/security/passkeys': ['security.factor_changed'],
  '/profile/security/passkeys/:id': 'it gives a name',
  '/profile/security/passkeys/:id/remove': ['security.factor_changed'],
  '/m/:code/settings/edit': ['security.return_url_changed', 'security.contact_changed', 'security.origins_changed'],
  '/m/:code/settings/checkout': ['security.accent_changed'],
  '/m/:code/settings/checkout/logo': ['security.logo_changed'],
  '/m/:code/settings/checkout/logo/remove': ['security.logo_changed'],
};

it('each form with a step-up gives a notice, or has a reason for none', () => {
  expect(Object.keys(NOTICES).toSorted()).toEqual(
    FORMS.filter(({ stepUp }) => stepUp === true)
      .map(({ path }) => path)
      .toSorted(),
  );
});

it('each notice of money or access that a member can cause has its form', () => {
  const byForms = new Set(Object.values(NOTICES).flatMap((kinds) => (typeof kinds === 'string' ? [] : kinds)));
  const others = Object.keys(NOTICE_KINDS).filter((kind) => ![...byForms].some((name) => name === kind));
  expect(others).toEqual([
    // The bank, the acquirer, Lunas, or the sign-in causes them.
    'bank_account.pending_approval',
    'bank_account.active',
    'bank_account.suspended',
    'bank_account.rejected',
    'bank_account.replaced',
    'payout.failed',
    'payout.returned',
    'payment.other_amount',
    'security.recovery_code_used',
    'security.wrong_codes',
  ]);
});
