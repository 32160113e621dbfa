import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { draftPayment } from '../../../api/payments/create-payment/capture-terms';
import { createSingle } from '../../../api/payments/create-payment/create-single';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findCurrentPolicy, type Policy } from '../../../db/operations/find-current-policy';
import { amountsOf } from '../../../domain/fees';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { PROVIDERS, type ProviderName } from '../../../domain/provider-capabilities';
import { ApiError } from '../../../http/api-error';
import type { EndpointResponse } from '../../../http/endpoint';
import { countCreation } from '../../../http/rate-limit/count-request';
import { withUserAudit } from '../../../services/audit/user-audit';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { requireTemporal, TemporalAwayError } from '../require-temporal';
import { userIdentity } from '../user-identity';
import { amountField } from './list-filter';
import { renderNewPaymentPage } from './new-payment-page';

const MANAGE = { area: 'payments', level: 'manage' } as const;
const PATH = '/m/:code/payments/new';

const newPaymentSchema = z.object({
  form_id: z.uuid({ error: 'form' }),
  amount: amountField.refine((rupiah) => rupiah >= 1 && rupiah <= MAX_TOTAL_RUPIAH, { error: 'amount' }),
  order: z
    .string()
    .max(64, { error: 'order' })
    .refine((text) => !text.includes('\0'), { error: 'order' })
    .optional(),
  provider: z.enum(PROVIDERS, { error: 'provider' }).default('gopay'),
});

type NewPayment = z.output<typeof newPaymentSchema>;
type FormDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;

/** The form. Its hidden id is the idempotency key, so a double click makes one payment. */
export const newPaymentForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  fields: NO_FIELDS,
  async handler(dependencies: FormDependencies, visit) {
    const view = merchantView(dependencies, visit);
    const merchant = await findCreatingMerchant(dependencies.db, visit.member.merchantId);
    return formPage(dependencies, view, merchant, { sent: {}, errors: {}, status: 200 });
  },
});

export const createPaymentByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  fields: newPaymentSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const merchant = await findCreatingMerchant(dependencies.db, visit.member.merchantId);
    const { sent } = form;
    if (!form.ok) {
      return formPage(dependencies, view, merchant, { sent, errors: textsOf(view, form.errors), status: 422 });
    }
    const errors = await violationsOf(dependencies, view, merchant, form.values);
    if (Object.keys(errors).length > 0) return formPage(dependencies, view, merchant, { sent, errors, status: 422 });
    try {
      const reference = await create(dependencies, visit, merchant, form.values);
      return redirectTo(view.paths.qr(reference));
    } catch (error) {
      const [problem, status] = problemOf(dependencies, view, error);
      return formPage(dependencies, view, merchant, { sent, errors: {}, status, problem });
    }
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

/** The violations of a suspended merchant, a provider that is not enabled, and a fee that the amount does not allow. */
async function violationsOf(
  { db }: FormDependencies,
  view: MerchantView,
  merchant: CreatingMerchantRow,
  { provider, amount }: NewPayment,
): Promise<FieldErrors> {
  const { create } = view.texts;
  const rejection = merchantRejection(view);
  if (rejection !== null) return { amount: rejection };
  if (!merchant.providers.includes(provider) || !merchant.paymentMethodActive) {
    return { provider: create.errors.provider };
  }
  const { policy, providerAccountId } = await findCurrentPolicy(db, provider, 'qris');
  if (!policy || providerAccountId === null) return { provider: create.unavailable };
  const computed = amountsOf(amount, policy, merchant.feePayer);
  switch (computed.outcome) {
    case 'ok':
      return {};
    case 'total_above_limit':
      return { amount: create.aboveLimit(formatRupiah(computed.feeRupiah)) };
    case 'fee_reaches_amount':
      return { amount: create.feeReachesAmount(formatRupiah(computed.feeRupiah)) };
  }
}

function textsOf({ texts: { create } }: MerchantView, codes: FieldErrors): FieldErrors {
  const known: Readonly<Partial<Record<string, string>>> = create.errors;
  return Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [
      name === 'form_id' ? 'amount' : name,
      known[code] ?? create.errors.form,
    ]),
  );
}

/** @returns the reference of the payment */
async function create(
  dependencies: DashboardDependencies,
  visit: MemberVisit,
  merchant: CreatingMerchantRow,
  { form_id, amount, order, provider }: NewPayment,
): Promise<string> {
  const request = {
    amount,
    currency: 'IDR',
    payment_method: 'qris',
    provider,
    merchant_reference_id: order ?? null,
    customer: null,
    metadata: null,
  } as const;
  const draft = draftPayment(dependencies, merchant, request, `dashboard-${form_id}`);
  const { paymentId } = draft.identity;
  const detail = JSON.stringify({ amount, provider, order });
  const action = { action: 'payment.create', target: paymentId, detail } as const;
  return withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, async () => {
    await requireTemporal(dependencies);
    await countCreation(dependencies.rateLimit, merchant.merchantId);
    const { body } = await createSingle(dependencies, merchant, draft);
    return body.payment.reference_id;
  });
}

/** In words, and the status of the response. A repeat of the form continues the same payment. */
function problemOf(
  { log }: Pick<DashboardDependencies, 'log'>,
  { texts }: MerchantView,
  error: unknown,
): [problem: string, status: number] {
  if (error instanceof ApiError && error.code === 'rate_limited') return [texts.create.busy, 429];
  if (error instanceof ApiError) return [`${texts.create.rejected} ${error.message}`, 409];
  if (error instanceof TemporalAwayError) return [texts.confirm.unavailable, 503];
  log.warn({ err: error }, 'outcome of a creation not known');
  return [texts.confirm.unknown, 503];
}
