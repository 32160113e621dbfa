import { z } from 'zod';
import { findCreatingMerchant, type CreatingMerchantRow } from '../../db/merchants/find-creating-merchant';
import { actorText } from '../../domain/actor';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { isLinkTitle, LINK_KINDS, type LinkTerms } from '../../domain/payment-link';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { linkIdOf, makeLink, type LinkDependencies, type LinkRejection } from './create-link';

/** Whose link it is. */
export type LinkingMerchant = CreatingMerchantRow;

const rupiah = z.int().min(1).max(MAX_TOTAL_RUPIAH);

const choice = z.object({
  kind: z.enum(LINK_KINDS),
  title: z.string().refine(isLinkTitle),
  amount: z.union([
    z.object({ amountRupiah: rupiah, minimumRupiah: z.null(), maximumRupiah: z.null() }),
    z.object({ amountRupiah: z.null(), minimumRupiah: rupiah, maximumRupiah: rupiah }),
  ]),
  merchantReferenceId: z.string().max(64).nullable(),
  provider: z.enum(PROVIDERS),
  expiresAt: z.date().nullable(),
});

const keyOf = (formId: string) => `dashboard-${formId}`;

/** A member makes a payment link. The id of the form is the idempotency key, so a double click makes one. */
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
  target: ({ subject: { merchantId }, formId }) => linkIdOf(merchantId, keyOf(formId)),
  detail: ({ input }) => ({
    kind: input.kind,
    title: input.title,
    amount: input.amount.amountRupiah ?? undefined,
    minimum_amount: input.amount.minimumRupiah ?? undefined,
    maximum_amount: input.amount.maximumRupiah ?? undefined,
    provider: input.provider,
    order: input.merchantReferenceId ?? undefined,
    expires_at: input.expiresAt?.toISOString(),
  }),
  findsRepeats: true,
  async perform({ needs, by, subject: merchant, input, formId }) {
    const request = { terms: termsOf(input), idempotencyKey: keyOf(formId), by: actorText(by), now: new Date() };
    const result = await makeLink(needs, merchant, request);
    if (result.outcome === 'rejected') return rejected({ reason: 'not_created', why: result.rejection });
    return done(result.link);
  },
});

/** The form of a member has neither an expiry of each payment nor a return URL. */
function termsOf({ amount, ...input }: z.output<typeof choice>): LinkTerms {
  return { ...input, ...amount, paymentExpiresInSeconds: null, returnUrl: null };
}
