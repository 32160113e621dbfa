import { z } from 'zod';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../db/merchants/find-creating-merchant';
import { actorText } from '../../domain/actor';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { MAX_ORDER_ID_CHARACTERS } from '../../domain/payment';
import { isLinkTitle, LINK_KINDS, linkAmountOf } from '../../domain/payment-link';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { idempotencyKeyOf } from '../payments/create/payment-identity';
import { createPaymentLink, linkIdOf, type LinkDependencies, type LinkRejection } from './create-link';

/** Whose link it is. */
export type LinkingMerchant = CreatingMerchantRow;

const rupiah = z.int().min(1).max(MAX_TOTAL_RUPIAH).nullable();

const choice = z.object({
  kind: z.enum(LINK_KINDS),
  title: z.string().refine(isLinkTitle),
  amountRupiah: rupiah,
  minimumRupiah: rupiah,
  maximumRupiah: rupiah,
  merchantReferenceId: z.string().max(MAX_ORDER_ID_CHARACTERS).nullable(),
  provider: z.enum(PROVIDERS),
  expiresAt: z.date().nullable(),
});

/** A member creates a payment link. The id of the form is the idempotency key, so a double click creates one. */
export const createOwnLink = new Operation({
  name: 'payment_link.create',
  member: { area: 'payments', level: 'manage' },
  path: z.object({}),
  input: choice,
  rejections: { not_created: { why: z.custom<LinkRejection>() } },
  messages: { not_created: ({ why }) => why.reason },
  async load({ db }: AuditDependencies & LinkDependencies, scope): Promise<LinkingMerchant> {
    if (scope === 'all') throw new NotFoundError('merchant', 'of an operator');
    return findCreatingMerchant(db, scope.merchantId);
  },
  target: ({ subject: { merchantId }, formId }) => linkIdOf(merchantId, idempotencyKeyOf(formId)),
  detail: ({ input }) => ({
    kind: input.kind,
    title: input.title,
    amount: input.amountRupiah ?? undefined,
    minimum_amount: input.minimumRupiah ?? undefined,
    maximum_amount: input.maximumRupiah ?? undefined,
    provider: input.provider,
    order: input.merchantReferenceId ?? undefined,
    expires_at: input.expiresAt?.toISOString(),
  }),
  // Bounds that have to be corrected are no act of the member: the audit log does not have them.
  allows(_merchant, _by, input) {
    const amount = input && linkAmountOf(input);
    return typeof amount === 'string' ? { reason: 'not_created', why: { reason: amount } } : null;
  },
  findsRepeats: true,
  async perform({ needs, by, subject: merchant, input, formId }) {
    const result = await createPaymentLink(needs, merchant, {
      // The form has neither an expiry of each payment nor a return URL.
      terms: { ...input, paymentExpiresInSeconds: null, returnUrl: null },
      idempotencyKey: idempotencyKeyOf(formId),
      by: actorText(by),
      now: new Date(),
    });
    if (result.outcome === 'rejected') return rejected({ reason: 'not_created', why: result.rejection });
    return done(result.link);
  },
});
