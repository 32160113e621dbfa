import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findCurrentPolicy, type Policy } from '../../../db/operations/find-current-policy';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { PROVIDERS, type ProviderName } from '../../../domain/provider-capabilities';
import { UserError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { countCreation } from '../../../http/rate-limit/count-request';
import { withUserAudit } from '../../../services/audit/user-audit';
import { createPayment, findTermsRejection } from '../../../services/payments/create/create-payment';
import { draftPayment, type PaymentDraft } from '../../../services/payments/create/payment-draft';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { requireTemporal, TemporalAwayError } from '../require-temporal';
import { userIdentity } from '../user-identity';
import { shownRejection, type FormRejection } from './create-rejections';
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

type NewPaymentForm = z.output<typeof newPaymentSchema>;
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
    const show = (state: Omit<FormState, 'sent'>) => formPage(dependencies, view, merchant, { sent, ...state });
    const { language } = view.locale;
    if (!form.ok) return show({ errors: textsOf(view, form.errors), status: 422 });
    const closed = merchantRejection(view);
    if (closed !== null) return show({ errors: { amount: closed }, status: 422 });
    const draft = draftOf(dependencies, merchant, form.values);
    // A form that is corrected is no action of the member.
    const rejection = await findTermsRejection(dependencies, merchant, draft);
    if (rejection !== null) return show(shownRejection(language, rejection));
    try {
      const { referenceId } = await create(dependencies, visit, merchant, draft);
      return redirectTo(view.paths.qr(referenceId));
    } catch (error) {
      if (error instanceof NotCreatedError) return show(shownRejection(language, error.rejection));
      return show({ errors: {}, status: 503, problem: problemOf(dependencies, view, error) });
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

function textsOf({ texts: { create } }: MerchantView, codes: FieldErrors): FieldErrors {
  const known: Readonly<Partial<Record<string, string>>> = create.errors;
  return Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [
      name === 'form_id' ? 'amount' : name,
      known[code] ?? create.errors.form,
    ]),
  );
}

function draftOf(
  dependencies: DashboardDependencies,
  merchant: CreatingMerchantRow,
  { form_id, amount, order, provider }: NewPaymentForm,
): PaymentDraft {
  const request = {
    amountRupiah: amount,
    paymentMethod: 'qris',
    provider,
    merchantReferenceId: order ?? null,
    customer: null,
    metadata: null,
  } as const;
  return draftPayment(dependencies, merchant, request, `dashboard-${form_id}`);
}

/** The log of actions has the creation as rejected. */
class NotCreatedError extends UserError {
  constructor(readonly rejection: FormRejection) {
    super(rejection.reason);
  }
}

/** @throws NotCreatedError with the rejection */
async function create(
  dependencies: DashboardDependencies,
  visit: MemberVisit,
  merchant: CreatingMerchantRow,
  draft: PaymentDraft,
): Promise<PaymentRow> {
  const { amountRupiah: amount, provider, merchantReferenceId } = draft.request;
  const detail = JSON.stringify({ amount, provider, order: merchantReferenceId ?? undefined });
  const action = { action: 'payment.create', target: draft.identity.paymentId, detail } as const;
  return withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, async () => {
    await requireTemporal(dependencies);
    const isAllowed = await countCreation(dependencies.rateLimit, merchant.merchantId);
    if (!isAllowed) throw new NotCreatedError({ reason: 'merchant_rate' });
    const result = await createPayment(dependencies, merchant, draft);
    if (result.outcome === 'rejected') throw new NotCreatedError(result.rejection);
    return result.payment;
  });
}

/** Why the outcome is not known, or nothing was requested. A repeat of the form continues the same payment. */
function problemOf({ log }: Pick<DashboardDependencies, 'log'>, { texts }: MerchantView, error: unknown): string {
  if (error instanceof TemporalAwayError) return texts.confirm.unavailable;
  log.warn({ err: error }, 'outcome of a creation not known');
  return texts.confirm.unknown;
}
