import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';

/* docs/security.md: access to the merchant changes only after a fresh proof of identity. */

const FORMS = DASHBOARD_ROUTES.filter(({ method, path }) => method === 'post' && /^\/(m|profile)\//.test(path));

it('these forms of a signed-in user need no step-up, and every other one does', () => {
  const without = FORMS.filter(({ stepUp }) => stepUp !== true).map(({ path }) => path);
  expect(without.toSorted()).toEqual([
    '/m/:code/developers/deliveries/:delivery/redeliver',
    '/m/:code/developers/deliveries/redeliver',
    '/m/:code/developers/webhooks/:endpoint/ping',
    '/m/:code/notices/:notice/close',
    '/m/:code/payments/:ref/cancel',
    '/m/:code/payments/:ref/refund',
    '/m/:code/payments/:ref/refund/cancel',
    '/m/:code/payments/new',
    '/m/:code/settings',
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
