import { rejectionError } from '../../../../src/api/payments/create-payment/rejection-error';
import { NO_RATES, type FeeRates } from '../../../../src/domain/fee-terms';
import type { FeePayer } from '../../../../src/domain/fees';
import type { Language } from '../../../../src/domain/sign-in';
import { createOwnPayment } from '../../../../src/services/payments/create/create-own-payment';
import type { CreateRejection } from '../../../../src/services/payments/create/create-rejection';
import {
  creationText,
  type FormReason,
  type FormRejection,
} from '../../../../src/web/dashboard/payments/create-rejections';
import { newPaymentPages } from '../../../../src/web/dashboard/payments/new-payment';
import { CREATE_REJECTIONS } from '../../../support/create-rejections';
import { NO_DEPENDENCIES, OWN_TERMS, ownerVisit } from '../../../support/member-visit';

const REJECTIONS: { readonly [Reason in FormReason]: FormRejection<Reason> } = {
  ...CREATE_REJECTIONS,
  merchant_rate: { reason: 'merchant_rate' },
};

const FORM = { form_id: '0199a5a0-0000-7000-8000-000000000002', amount: '100' };

/** What `run` has for a reason: that of a creation is nested. */
const ofOperation = (rejection: FormRejection) =>
  rejection.reason === 'merchant_rate' ? rejection : { reason: 'not_created' as const, why: rejection };

/** The response to a form that is rejected. */
async function send(language: Language, rejection: FormRejection) {
  jest.spyOn(createOwnPayment, 'preview').mockResolvedValue({ subject: OWN_TERMS, rejection: null });
  const result = { outcome: 'rejected', rejection: ofOperation(rejection), message: '' } as const;
  jest.spyOn(createOwnPayment, 'run').mockResolvedValue(result);
  const { status, body } = await post(language, FORM);
  return { status, body };
}

async function post(language: Language, form: Readonly<Record<string, string>>) {
  const route = newPaymentPages.find(({ method }) => method === 'post');
  const response = await route?.respond(NO_DEPENDENCIES, ownerVisit(language, form));
  return { status: response?.status, body: String(response?.body) };
}

const fieldsWithErrors = (body: string) => Array.from(body.matchAll(/id="(\w+)-error"/g), ([, name]) => name);

describe.each(Object.values(REJECTIONS))('a form that is rejected: $reason', (rejection) => {
  it('the reason has a sentence of its own in each language', () => {
    const [english, indonesian] = [creationText('en', rejection), creationText('id', rejection)];
    for (const text of [english, indonesian]) expect(text).toMatch(/^[A-Z].*\.$/);
    expect(indonesian).not.toBe(english);
  });

  it.each(['en', 'id'] as const)(
    'shows the sentence on the page in %s, and its form can be sent again',
    async (language) => {
      const { body } = await send(language, rejection);
      expect(body).toContain(creationText(language, rejection));
      expect(body).toContain(`value="${FORM.form_id}"`);
      expect(body).not.toContain('disabled');
    },
  );

  it('shows no English sentence on the Indonesian page', async () => {
    expect((await send('id', rejection)).body).not.toContain(creationText('en', rejection));
  });
});

it.each(Object.values<CreateRejection>(CREATE_REJECTIONS))(
  '$reason: no page has the sentence of the API',
  async (rejection) => {
    const sentence = rejectionError(rejection).message;
    for (const language of ['en', 'id'] as const)
      expect((await send(language, rejection)).body).not.toContain(sentence);
  },
);

it('the Indonesian page does not have the English reason of the provider', async () => {
  const { provider_rejected } = REJECTIONS;
  expect((await send('id', provider_rejected)).body).not.toContain(provider_rejected.failureReason);
});

it.each([
  [['amount'], 422, ['fee_reaches_amount', 'total_too_large']],
  [['provider'], 422, ['payment_method_inactive', 'provider_not_enabled', 'provider_unavailable']],
  [[], 429, ['merchant_rate', 'creates_in_flight']],
  [[], 409, ['idempotency_key_reused', 'idempotency_key_archived', 'provider_rejected']],
] as const)('the fields %j have the text, and the response is %i: %j', async (fields, expected, reasons) => {
  for (const reason of reasons) {
    const { status, body } = await send('id', REJECTIONS[reason]);
    expect([reason, fieldsWithErrors(body), status]).toEqual([reason, fields, expected]);
  }
});

/** A form that is accepted, and what `run` got. */
async function create(form: Readonly<Record<string, string>>) {
  jest.spyOn(createOwnPayment, 'preview').mockResolvedValue({ subject: OWN_TERMS, rejection: null });
  const run = jest.spyOn(createOwnPayment, 'run').mockClear();
  run.mockRejectedValue(new Error('no payment is created here'));
  const response = await post('en', form).catch(() => ({ status: undefined, body: '' }));
  return { ...response, call: run.mock.calls[0]?.[2] };
}

it('a form without its id creates nothing, as it would create two payments if it is sent twice', async () => {
  const { status, body, call } = await create({ amount: '100' });
  expect([status, call]).toEqual([422, undefined]);
  expect(body).toContain('Open this form again: its number is missing.');
});

const AS_USUAL = { amountRupiah: 100, provider: 'gopay', merchantReferenceId: null };

it.each([
  [{}, { description: null, expiresInSeconds: null }],
  [
    { description: ' Kopi & roti ', expires_in: '' },
    { description: 'Kopi & roti', expiresInSeconds: null },
  ],
  [{ expires_in: '3600' }, { description: null, expiresInSeconds: 3_600 }],
])('the fields %j request %j', async (fields, expected) => {
  const { call } = await create({ ...FORM, ...fields });
  expect(call).toMatchObject({ input: { ...AS_USUAL, ...expected }, formId: FORM.form_id });
});

it.each([
  ['description', 'one line\nanother'],
  ['description', 'x'.repeat(141)],
  ['expires_in', '59'],
  ['expires_in', '86401'],
  ['expires_in', 'soon'],
])('a %s of %j is an error beside its field, which is not folded', async (name, value) => {
  const { status, body, call } = await create({ ...FORM, [name]: value });
  expect([status, call, fieldsWithErrors(body)]).toEqual([422, undefined, [name]]);
  expect(body).toContain('<details class="more-fields" open="">');
});

it('a payment as usual needs nothing that is folded', async () => {
  jest.spyOn(createOwnPayment, 'preview').mockResolvedValue({ subject: OWN_TERMS, rejection: null });
  const { body } = await post('en', {});
  expect(body).toContain('<details class="more-fields">');
});

const validFrom = '2026-01-01';
const BANDS = [
  { fromRupiah: 0, basisPoints: 0 },
  { fromRupiah: 500_001, basisPoints: 30 },
];
const OF_CLASS: FeeRates = { ...NO_RATES, class: 'UMI', schedule: { validFrom, bands: BANDS } };
const AGREED: FeeRates = { ...NO_RATES, price: { validFrom, basisPoints: 20, flatRupiah: 1_000 } };
const BOTH: FeeRates = { ...OF_CLASS, price: AGREED.price };

/** The catalog has 0.7 %. */
const RESULTS: readonly (readonly [string, FeePayer, FeeRates, string])[] = [
  ['50000', 'merchant', NO_RATES, 'You receive Rp 49.650'],
  ['50.000', 'buyer', NO_RATES, 'The customer pays Rp 50.350'],
  ['Rp 50.000', 'merchant', NO_RATES, 'You receive Rp 49.650'],
  ['100', 'merchant', NO_RATES, 'You receive Rp 99'],
  ['9.930.486', 'buyer', NO_RATES, 'The customer pays Rp 10.000.000'],
  ['9.930.487', 'buyer', NO_RATES, ''],
  ['20.000.000', 'merchant', NO_RATES, ''],
  ['1', 'merchant', NO_RATES, ''],
  ['0', 'buyer', NO_RATES, ''],
  ['1.2345', 'buyer', NO_RATES, ''],
  ['', 'merchant', NO_RATES, ''],
  ['500.000', 'merchant', OF_CLASS, 'You receive Rp 500.000'],
  ['500.001', 'merchant', OF_CLASS, 'You receive Rp 498.501'],
  ['1.000', 'merchant', AGREED, ''],
  ['1.003', 'merchant', AGREED, 'You receive Rp 1'],
  ['999.999', 'merchant', BOTH, 'You receive Rp 997.000'],
  ['1.001.000', 'buyer', BOTH, 'The customer pays Rp 1.004.002'],
];

it.each(RESULTS)(
  'the page for the amount %j, whose fee the %s pays by %j, has %j',
  async (amount, feePayer, rates, text) => {
    const policies = OWN_TERMS.policies.map((each) => ({ ...each, rates }));
    const subject = { ...OWN_TERMS, feePayer, policies };
    jest.spyOn(createOwnPayment, 'preview').mockResolvedValue({ subject, rejection: null });
    const route = newPaymentPages.find(({ method }) => method === 'get');
    const response = await route?.respond(NO_DEPENDENCIES, ownerVisit('en', { amount }));
    const [, shown] = /<output [^>]*>([^<]*)/.exec(String(response?.body)) ?? [];
    expect(shown?.replace('\u00a0', ' ')).toBe(text);
  },
);

it('the form of a shop with one provider sends that provider, and has its fee', async () => {
  const policies = OWN_TERMS.policies.filter(({ provider }) => provider === 'shopeepay');
  const subject = { ...OWN_TERMS, providers: policies.map(({ provider }) => provider), policies };
  jest.spyOn(createOwnPayment, 'preview').mockResolvedValue({ subject, rejection: null });
  const route = newPaymentPages.find(({ method }) => method === 'get');
  const response = await route?.respond(NO_DEPENDENCIES, ownerVisit('en', { amount: '50.000' }));
  const body = String(response?.body);
  expect(Array.from(body.matchAll(/name="provider" value="(\w+)"/g), ([, name]) => name)).toEqual(['shopeepay']);
  expect(body).toContain('You receive Rp\u00a049.650');
});
