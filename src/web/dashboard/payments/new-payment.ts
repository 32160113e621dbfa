import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findCurrentPolicy, type Policy } from '../../../db/operations/find-current-policy';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { PROVIDERS, type ProviderName } from '../../../domain/provider-capabilities';
import type { EndpointResponse } from '../../../http/endpoint';
import { isRunRejection, rejectionText } from '../../../services/operations/rejections';
import { createOwnPayment, draftOfForm } from '../../../services/payments/create/create-own-payment';
import { findTermsRejection } from '../../../services/payments/create/create-payment';
import { memberPage, NO_FIELDS, redirectTo } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { runTexts } from '../form-pages';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { shownRejection } from './create-rejections';
import { amountField } from './list-filter';
import { renderNewPaymentPage } from './new-payment-page';
import { newPaymentPath, qrPath } from './payment-paths';

const MANAGE = { area: 'payments', level: 'manage' } as const;

const newPaymentSchema = z
  .object({
    form_id: z.uuid({ error: 'form' }),
    amount: amountField.refine((rupiah) => rupiah >= 1 && rupiah <= MAX_TOTAL_RUPIAH, { error: 'amount' }),
    order: z
      .string()
      .max(64, { error: 'order' })
      .refine((text) => !text.includes('\0'), { error: 'order' })
      .optional(),
    provider: z.enum(PROVIDERS, { error: 'provider' }).default('gopay'),
  })
  .transform(({ form_id: formId, amount: amountRupiah, order, provider }) => ({
    formId,
    input: { amountRupiah, provider, merchantReferenceId: order ?? null },
  }));

type FormDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;

/** The form. Its hidden id is the idempotency key, so a double click makes one payment. */
export const newPaymentForm = memberPage(MANAGE, {
  method: 'get',
  path: newPaymentPath.pattern,
  fields: NO_FIELDS,
  async handler(dependencies: FormDependencies, visit) {
    const view = merchantView(dependencies, visit);
    const merchant = await findCreatingMerchant(dependencies.db, visit.member.merchantId);
    return formPage(dependencies, view, merchant, { sent: {}, errors: {}, status: 200 });
  },
});

export const createPaymentByForm = memberPage(MANAGE, {
  method: 'post',
  path: newPaymentPath.pattern,
  fields: newPaymentSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const merchant = await findCreatingMerchant(dependencies.db, visit.member.merchantId);
    const { sent } = form;
    const show = (state: Omit<FormState, 'sent'>) => formPage(dependencies, view, merchant, { sent, ...state });
    const { language } = view.locale;
    if (!form.ok) return show({ errors: textsOf(view, form.errors), status: 422 });
    const closed = merchantRejection(view);
    if (closed !== null) return show({ errors: { amount: closed }, status: 422 });
    const { formId, input } = form.values;
    const draft = draftOfForm(dependencies, merchant.merchantId, input, formId);
    // A form that is corrected is no action of the member.
    const rejection = await findTermsRejection(dependencies, merchant, draft);
    if (rejection !== null) return show(shownRejection(language, rejection));
    const result = await createOwnPayment.run(dependencies, memberActor(visit), { path: {}, input, formId });
    if (result.outcome === 'done') return redirectTo(qrPath.to({ ...view, ref: result.value.referenceId }));
    const { unknown, unavailable } = view.texts.confirm;
    // A repeat of the form continues the same payment.
    if (result.outcome !== 'rejected') return show({ errors: {}, status: 503, problem: unknown });
    const { rejection: reason } = result;
    if (isRunRejection(reason))
      return show({ errors: {}, status: 409, problem: rejectionText(runTexts(view), reason) });
    if (reason.reason === 'temporal_away') return show({ errors: {}, status: 503, problem: unavailable });
    return show(shownRejection(language, reason.reason === 'not_created' ? reason.why : reason));
  },
});

interface FormState {
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly status: number;
  /** What prevented the payment, beside the fields. */
  readonly problem?: string;
}

async function formPage(
  { db }: FormDependencies,
  view: MerchantView,
  { providers, feePayer }: CreatingMerchantRow,
  { status, sent, ...form }: FormState,
): Promise<EndpointResponse> {
  const policies = await Promise.all(providers.map((provider) => findCurrentPolicy(db, provider, 'qris')));
  const terms = policies.flatMap(({ policy }, index) => {
    const provider = providers[index];
    return policy && provider ? [termsOf(view, provider, policy)] : [];
  });
  const rejection = merchantRejection(view);
  const formId = z.uuid().safeParse(sent.form_id).data ?? randomUUID();
  return pageResponse(renderNewPaymentPage({ view, feePayer, terms, rejection, formId, sent, ...form }), status);
}

const termsOf = (view: MerchantView, provider: ProviderName, policy: Policy) => ({
  provider,
  percent: (policy.feeBasisPoints / 100).toLocaleString(view.locale.language),
  flat: policy.feeFlatRupiah === 0 ? null : formatRupiah(policy.feeFlatRupiah),
  minutes: String(Math.round(policy.expiresInSeconds / 60)),
});

function textsOf({ texts: { create } }: MerchantView, codes: FieldErrors): FieldErrors {
  const known: Readonly<Partial<Record<string, string>>> = create.errors;
  return Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [
      name === 'form_id' ? 'amount' : name,
      known[code] ?? create.errors.form,
    ]),
  );
}
