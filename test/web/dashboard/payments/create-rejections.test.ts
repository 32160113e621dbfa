import { rejectionError } from '../../../../src/api/payments/create-payment/rejection-error';
import type { Language } from '../../../../src/domain/sign-in';
import type { MerchantView } from '../../../../src/web/dashboard/merchant-view';
import {
  shownRejection,
  type FormReason,
  type FormRejection,
} from '../../../../src/web/dashboard/payments/create-rejections';
import { renderNewPaymentPage } from '../../../../src/web/dashboard/payments/new-payment-page';
import { DASHBOARD_TEXTS } from '../../../../src/web/dashboard/texts/texts';
import { CREATE_REJECTIONS } from '../../../support/create-rejections';

const REJECTIONS: { readonly [Reason in FormReason]: FormRejection<Reason> } = {
  ...CREATE_REJECTIONS,
  merchant_rate: { reason: 'merchant_rate' },
};

const viewIn = (language: Language): MerchantView => ({
  texts: DASHBOARD_TEXTS[language],
  locale: { language, zone: 'Asia/Jakarta' },
  nowMs: Date.UTC(2026, 10, 21),
  code: 'm1',
  merchantName: 'Toko',
  merchantState: null,
  userName: 'Siti',
  roleName: DASHBOARD_TEXTS[language].roles.cashier,
  isDevelopmentSession: false,
  isSandbox: true,
  path: '/m/m1/payments/new',
  onlyRoles: () => '',
  rightRejection: () => null,
  scopesRejection: () => null,
});

/** The page of the form after a rejection. */
function pageIn(language: Language, rejection: FormRejection): string {
  const { status: _, ...shown } = shownRejection(language, rejection);
  const form = { feePayer: 'merchant', terms: [], rejection: null, formId: 'form-1', sent: { amount: '100' } } as const;
  return renderNewPaymentPage({ view: viewIn(language), ...form, ...shown });
}

function textIn(language: Language, rejection: FormRejection): string {
  const { errors, problem } = shownRejection(language, rejection);
  return [...Object.values(errors), problem].join('');
}

describe.each(Object.values(REJECTIONS))('a form that is rejected: $reason', (rejection) => {
  it('the reason has a sentence of its own in each language', () => {
    const [english, indonesian] = [textIn('en', rejection), textIn('id', rejection)];
    for (const text of [english, indonesian]) expect(text).toMatch(/^[A-Z].*\.$/);
    expect(indonesian).not.toBe(english);
  });

  it.each(['en', 'id'] as const)('shows the sentence on the page in %s', (language) => {
    expect(pageIn(language, rejection)).toContain(textIn(language, rejection));
  });

  it('shows no English sentence on the Indonesian page', () => {
    expect(pageIn('id', rejection)).not.toContain(textIn('en', rejection));
  });
});

it.each(Object.values(CREATE_REJECTIONS))('$reason: no page has the sentence of the API', (rejection) => {
  const sentence = rejectionError(rejection).message;
  for (const language of ['en', 'id'] as const) expect(pageIn(language, rejection)).not.toContain(sentence);
});

it('the Indonesian page does not have the English reason of the provider', () => {
  const { provider_rejected } = REJECTIONS;
  expect(pageIn('id', provider_rejected)).not.toContain(provider_rejected.failureReason);
});

it.each([
  ['amount', ['fee_reaches_amount', 'total_too_large'], 422],
  ['provider', ['payment_method_inactive', 'provider_not_enabled', 'provider_unavailable'], 422],
] as const)('the field %s has %j, and the response is %i', (field, reasons, status) => {
  for (const reason of reasons) {
    const shown = shownRejection('id', REJECTIONS[reason]);
    expect([Object.keys(shown.errors), shown.problem, shown.status]).toEqual([[field], undefined, status]);
  }
});

it('a limit is 429, and what only another form can change is 409', () => {
  const statusOf = (reason: FormReason) => shownRejection('en', REJECTIONS[reason]).status;
  expect([statusOf('merchant_rate'), statusOf('creates_in_flight')]).toEqual([429, 429]);
  const ofForm = ['idempotency_key_reused', 'idempotency_key_archived', 'provider_rejected'] as const;
  expect(ofForm.map(statusOf)).toEqual([409, 409, 409]);
});
