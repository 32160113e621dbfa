import { z } from 'zod';
import { Operation } from '../../../src/services/operations/operation';
import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';
import type * as fieldAttributes from '../../../src/web/page/field-attributes';
import { attributesOf, type FieldAttributes, type FormAttributes } from '../../../src/web/page/field-attributes';
import { NO_DEPENDENCIES, OWN_TERMS, ownerVisit, strangerVisit } from '../../support/member-visit';

/* Each page is rendered of an object that has what every page reads, and with the schema of its own form. */

jest.mock('../../../src/web/page/field-attributes', () => {
  const actual = jest.requireActual<typeof fieldAttributes>('../../../src/web/page/field-attributes');
  return { attributesOf: jest.fn(actual.attributesOf) };
});

/** A user without payments. */
jest.mock('../../../src/db/payments/own-payments', () => ({
  listOwnPayments: () => Promise.resolve([]),
  sumOwnPayments: () => Promise.resolve({ payments: 0, totalRupiah: 0 }),
  findCreationHabits: () => Promise.resolve({ amounts: [], provider: null }),
}));

const ID = OWN_TERMS.merchantId;
const KEY = {
  id: ID,
  name: 'shop',
  masked: 'sk_test_…',
  scopes: null,
  allowedNetworks: [],
  expiresAt: null,
  revokedAt: null,
};
const SUBJECT = {
  ...OWN_TERMS,
  ...KEY,
  userId: ID,
  role: 'owner',
  keys: [KEY],
  url: 'https://shop.test',
  events: null,
  expand: [],
  status: 'enabled',
  settings: { schedule: 'daily', weekday: null, minimumRupiah: 50_000 },
  isProposed: false,
  timeZone: 'Asia/Jakarta',
  contact: null,
  memberSince: new Date('2026-11-01T00:00:00Z'),
};

beforeEach(() => {
  jest.spyOn(Operation.prototype, 'preview').mockResolvedValue({ subject: SUBJECT, rejection: null });
  jest.mocked(attributesOf).mockClear();
});

/** The forms with fields that have a schema of their own. */
const FORMS = [
  '/login',
  '/m/:code/bank-account/new',
  '/m/:code/counter',
  '/m/:code/developers/keys/:key/edit',
  '/m/:code/developers/keys/:key/rotate',
  '/m/:code/developers/keys/new',
  '/m/:code/developers/webhooks/:endpoint/edit',
  '/m/:code/developers/webhooks/:endpoint/rotate',
  '/m/:code/developers/webhooks/new',
  '/m/:code/links/new',
  '/m/:code/payments/new',
  '/m/:code/payouts/schedule',
  '/m/:code/settings/edit',
  '/m/:code/team/:user/remove',
  '/m/:code/team/:user/role',
  '/m/:code/team/invite',
];

/** The forms of a merchant with one button, or with a file. Their fields are hidden, or nothing is checked of them. */
const BUTTONS = [
  '/m/:code/bank-account/:account/confirm',
  '/m/:code/bank-account/:account/disable',
  '/m/:code/bank-account/:account/withdraw',
  '/m/:code/developers/deliveries/redeliver',
  '/m/:code/developers/keys/:key/revoke',
  '/m/:code/developers/webhooks/:endpoint/delete',
  '/m/:code/developers/webhooks/:endpoint/disable',
  '/m/:code/developers/webhooks/:endpoint/enable',
  '/m/:code/developers/webhooks/:endpoint/ping',
  '/m/:code/links/:link/close',
  '/m/:code/payments/:ref/cancel',
  '/m/:code/payments/:ref/refund',
  '/m/:code/payments/:ref/refund/cancel',
  '/m/:code/payouts/:ref/approve',
  '/m/:code/payouts/:ref/cancel',
  '/m/:code/payouts/new',
  '/m/:code/payouts/schedule/proposal',
  '/m/:code/settings/checkout',
  '/m/:code/team/:user/reset',
  '/m/:code/team/invitations/:invitation/withdraw',
];

async function render(path: string): Promise<string> {
  const page = DASHBOARD_ROUTES.find((route) => route.method === 'get' && route.path === path);
  const visit = page?.access === 'public' ? strangerVisit('en') : ownerVisit('en');
  const response = await page?.respond(NO_DEPENDENCIES, visit);
  return String(response?.body);
}

/** What the browser checks of each control with this name; of a hidden one it checks nothing. */
function controlsOf(html: string, name: string): (FieldAttributes | 'hidden')[] {
  const controls = html.match(/<(?:input|select|textarea)\b[^>]*>/g) ?? [];
  const named = controls.filter((control) => control.includes(` name="${name}"`));
  return named.map((control) => (control.includes('type="hidden"') ? 'hidden' : checksOf(control)));
}

function checksOf(control: string): FieldAttributes {
  const limits = [...control.matchAll(/ (minLength|maxLength)="(\d+)"/g)];
  const numbers = Object.fromEntries(limits.map(([, limit, value]) => [limit, Number(value)]));
  return control.includes(' required=""') ? { required: true, ...numbers } : numbers;
}

it.each(FORMS)('%s: each field has the attributes of its schema, and no other', async (path) => {
  const html = await render(path);
  const attributes: FormAttributes = jest.mocked(attributesOf).mock.results[0]?.value;
  const shown = Object.keys(attributes).map((name) => [name, controlsOf(html, name)] as const);
  expect(shown.length).toBeGreaterThan(0);
  for (const [name, controls] of shown) {
    const [control] = controls;
    expect([name, control]).toEqual([name, control === 'hidden' ? 'hidden' : attributes[name]]);
    expect(new Set(controls.map((each) => JSON.stringify(each))).size).toBe(1);
  }
});

it.each([
  ['/profile', 'name', 100],
  ['/profile/security/passkeys/new', 'name', 100],
  ['/profile/security/password', 'password', 128],
  ['/profile/security/password', 'repeat', 128],
])('%s: %s has to be sent, with at most %i characters', async (path, name, maxLength) => {
  expect(controlsOf(await render(path), name)).toEqual([{ required: true, maxLength }]);
});

it('the table of forms and the list of buttons have every form of a merchant', () => {
  const addresses = (method: string) =>
    DASHBOARD_ROUTES.filter((route) => route.method === method && route.path.startsWith('/m/')).map(
      (route) => route.path,
    );
  const pages = new Set(addresses('get'));
  const forms = addresses('post').filter((path) => pages.has(path));
  expect(forms.toSorted()).toEqual([...FORMS, ...BUTTONS].filter((path) => path.startsWith('/m/')).toSorted());
});

it('reads the limits of what is sent, also through a conversion', () => {
  const fields = z.preprocess(
    (sent) => sent,
    z
      .object({
        name: z.string().min(2).max(64),
        amount: z
          .string()
          .max(16)
          .transform((text) => Number(text)),
        note: z.string().max(500).default(''),
        kind: z.enum(['one', 'other']),
        boxes: z.array(z.string()).min(1),
      })
      .transform(({ name }) => name),
  );
  expect(attributesOf(fields)).toEqual({
    name: { required: true, minLength: 2, maxLength: 64 },
    amount: { required: true, maxLength: 16 },
    note: { maxLength: 500 },
    kind: { required: true },
  });
});
