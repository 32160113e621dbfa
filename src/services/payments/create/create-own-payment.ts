import { z } from 'zod';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findCurrentPolicy, type CurrentPolicy } from '../../../db/operations/find-current-policy';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { isDescription, MAX_ORDER_ID_CHARACTERS, OWN_EXPIRY_SECONDS } from '../../../domain/payment';
import { PROVIDERS, type ProviderName } from '../../../domain/provider-capabilities';
import { NotFoundError } from '../../../errors';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { done, notKnown, rejected } from '../../operations/rejections';
import { isTemporalAway, temporalMessage, temporalReason, type TemporalState } from '../../operations/temporal-away';
import { NO_DETAILS } from '../payment-details';
import { findTermsRejection } from './capture-terms';
import { createPayment, type CreateDependencies } from './create-payment';
import type { CreateRejection } from './create-rejection';
import type { NewPayment } from './new-payment';
import { draftPayment } from './payment-draft';
import { idempotencyKeyOf, paymentIdentity } from './payment-identity';

type CreateOwnNeeds = AuditDependencies &
  CreateDependencies &
  TemporalState & {
    /** The limit of the merchant, which the API counts too. */
    readonly rateLimit: {
      readonly merchantLimit: number;
      take(id: string, requests: number, limit: number): Promise<{ readonly allowed: boolean }>;
    };
  };

const METHOD = 'qris';

const choice = z.object({
  amountRupiah: z.int().min(1).max(MAX_TOTAL_RUPIAH),
  provider: z.enum(PROVIDERS),
  merchantReferenceId: z.string().max(MAX_ORDER_ID_CHARACTERS).nullable(),
  expiresInSeconds: z.int().min(OWN_EXPIRY_SECONDS.min).max(OWN_EXPIRY_SECONDS.max).nullable(),
  description: z.string().refine(isDescription).nullable(),
});

/** What the page of the form shows, and what decides about the payment. */
export interface OwnTerms extends CreatingMerchantRow {
  /** The newest policy of each provider that is enabled for the merchant. */
  readonly policies: readonly (CurrentPolicy & { readonly provider: ProviderName })[];
}

/**
 * A member creates a payment. The id of the form is the idempotency key, so a double click makes one. A form that has
 * to be corrected is no act of the member: the audit log does not have it.
 */
export const createOwnPayment = new Operation({
  name: 'payment.create',
  member: { area: 'payments', level: 'manage' },
  path: z.object({}),
  input: choice,
  rejections: { not_created: { why: z.custom<CreateRejection>() }, merchant_rate: {}, ...temporalReason },
  messages: { not_created: ({ why }) => why.reason, merchant_rate: () => 'merchant_rate', ...temporalMessage },
  async load({ db }: CreateOwnNeeds, scope): Promise<OwnTerms> {
    if (scope === 'all') throw new NotFoundError('merchant', 'of an operator');
    const { merchantId } = scope;
    const merchant = await findCreatingMerchant(db, merchantId);
    const policies = merchant.providers.map(async (provider) => ({
      provider,
      ...(await findCurrentPolicy(db, { merchantId, provider, channel: METHOD })),
    }));
    return { ...merchant, policies: await Promise.all(policies) };
  },
  target: ({ subject: { merchantId }, formId }) => paymentIdentity(merchantId, idempotencyKeyOf(formId)).paymentId,
  detail: ({ input }) => ({
    amount: input.amountRupiah,
    provider: input.provider,
    order: input.merchantReferenceId ?? undefined,
    expires_in: input.expiresInSeconds ?? undefined,
  }),
  allows(terms, _by, input) {
    if (input === undefined) return null;
    const current = terms.policies.find(({ provider }) => provider === input.provider);
    const why = findTermsRejection(terms, { ...input, paymentMethod: METHOD }, current);
    return why && { reason: 'not_created', why };
  },
  findsRepeats: true,
  async perform({ needs, subject: merchant, input, formId }) {
    if (await isTemporalAway(needs)) return rejected({ reason: 'temporal_away' });
    const { rateLimit } = needs;
    const { allowed } = await rateLimit.take(merchant.merchantId, 1, rateLimit.merchantLimit);
    if (!allowed) return rejected({ reason: 'merchant_rate' });
    const draft = draftPayment(needs, merchant, requestOf(input), idempotencyKeyOf(formId));
    const result = await createPayment(needs, merchant, draft).catch(notKnown);
    if (result.outcome === 'rejected') return rejected({ reason: 'not_created', why: result.rejection });
    return result.outcome === 'created' ? done(result.payment) : result;
  },
});

function requestOf(input: z.output<typeof choice>): NewPayment {
  return { ...NO_DETAILS, ...input, paymentMethod: METHOD };
}
