import { z } from 'zod';
import { findCreatingMerchant } from '../../../db/merchants/find-creating-merchant';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import { NotFoundError } from '../../../errors';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { done, notKnown, rejected } from '../../operations/rejections';
import { isTemporalAway, temporalMessage, temporalReason, type TemporalState } from '../../operations/temporal-away';
import { NO_DETAILS } from '../payment-details';
import { createPayment, type CreateDependencies } from './create-payment';
import type { CreateRejection } from './create-rejection';
import { draftPayment, type PaymentDraft } from './payment-draft';
import { paymentIdentity } from './payment-identity';

type CreateOwnNeeds = AuditDependencies &
  CreateDependencies &
  TemporalState & {
    /** The limit of the merchant, which the API counts too. */
    readonly rateLimit: {
      readonly merchantLimit: number;
      take(id: string, requests: number, limit: number): Promise<{ readonly allowed: boolean }>;
    };
  };

const choice = z.object({
  amountRupiah: z.int().min(1).max(MAX_TOTAL_RUPIAH),
  provider: z.enum(PROVIDERS),
  merchantReferenceId: z.string().max(64).nullable(),
});

/** A member creates a payment. The id of the form is the idempotency key, so a double click makes one. */
export const createOwnPayment = new Operation({
  name: 'payment.create',
  member: { area: 'payments', level: 'manage' },
  path: z.object({}),
  input: choice,
  rejections: { not_created: { why: z.custom<CreateRejection>() }, merchant_rate: {}, ...temporalReason },
  messages: { not_created: ({ why }) => why.reason, merchant_rate: () => 'merchant_rate', ...temporalMessage },
  load({ db }: CreateOwnNeeds, scope) {
    if (scope === 'all') throw new NotFoundError('merchant', 'of an operator');
    return findCreatingMerchant(db, scope.merchantId);
  },
  target: ({ subject: { merchantId }, formId }) => paymentIdentity(merchantId, keyOf(formId)).paymentId,
  detail: ({ input: { amountRupiah: amount, provider, merchantReferenceId } }) => ({
    amount,
    provider,
    order: merchantReferenceId ?? undefined,
  }),
  async perform({ needs, subject: merchant, input, formId }) {
    if (await isTemporalAway(needs)) return rejected({ reason: 'temporal_away' });
    const { rateLimit } = needs;
    const { allowed } = await rateLimit.take(merchant.merchantId, 1, rateLimit.merchantLimit);
    if (!allowed) return rejected({ reason: 'merchant_rate' });
    const draft = draftOfForm(needs, merchant.merchantId, input, formId);
    const result = await createPayment(needs, merchant, draft).catch(notKnown);
    if (result.outcome === 'rejected') return rejected({ reason: 'not_created', why: result.rejection });
    return result.outcome === 'created' ? done(result.payment) : result;
  },
});

const keyOf = (formId: string) => `dashboard-${formId}`;

export function draftOfForm(
  needs: Pick<CreateDependencies, 'derivedKeys'>,
  merchantId: string,
  input: z.output<typeof choice>,
  formId: string,
): PaymentDraft {
  const request = { ...input, paymentMethod: 'qris', ...NO_DETAILS, expiresInSeconds: null } as const;
  return draftPayment(needs, { merchantId }, request, keyOf(formId));
}
