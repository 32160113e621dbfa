import { z } from 'zod';
import type { Environment } from '../../config';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { contactHref, MAX_CONTACT_CHARACTERS } from '../../domain/shop-contact';
import { TIME_ZONES } from '../../domain/sign-in';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { changeMerchant, loadMerchant, ofMerchant, PAYMENT_METHOD_STATUSES } from './merchants';
import { originViolation, returnUrlViolation } from './shop-address';

export const MAX_URL_CHARACTERS = 500;
/** The origins are a header of each checkout page. */
export const MAX_ORIGINS = 10;

interface MerchantDependencies extends AuditDependencies {
  readonly environment: Environment;
}

/** Changes how a merchant takes payments. Absent fields keep their values. */
export const setMerchant = new Operation({
  name: 'merchant.set',
  operator: 'all',
  ...ofMerchant,
  member: { area: 'settings', level: 'authorise', stepUp: true, whileSuspended: true },
  input: z.object({
    timeZone: z.enum(TIME_ZONES).optional(),
    returnUrl: z.string().max(MAX_URL_CHARACTERS).nullable().optional(),
    contact: z
      .string()
      .max(MAX_CONTACT_CHARACTERS)
      .refine((text) => contactHref(text) !== null)
      .nullable()
      .optional(),
    checkoutOrigins: z.array(z.string().max(MAX_URL_CHARACTERS)).max(MAX_ORIGINS).optional(),
    /** Members set neither this nor the payment method. */
    providers: z.array(z.enum(PROVIDERS)).optional(),
    paymentMethod: z.enum(PAYMENT_METHOD_STATUSES).optional(),
  }),
  rejections: {
    operators_only: {},
    return_url_not_allowed: { sentence: z.string() },
    origin_not_allowed: { sentence: z.string() },
  },
  messages: {
    operators_only: () => 'Only operators change the providers and the payment method.',
    return_url_not_allowed: ({ sentence }) => sentence,
    origin_not_allowed: ({ sentence }) => sentence,
  },
  load: async ({ db, environment }: MerchantDependencies, scope, { merchant }) => ({
    ...(await loadMerchant(db, scope, merchant)),
    environment,
  }),
  detail: ({ input }) => input,
  allows({ environment }, by, input) {
    const isOfOperators = (input?.providers ?? input?.paymentMethod) !== undefined;
    if (isOfOperators && by.kind === 'merchant_user') return { reason: 'operators_only' };
    const url = brokenRule([input?.returnUrl ?? []].flat(), (text) => returnUrlViolation(text, environment));
    if (url !== null) return { reason: 'return_url_not_allowed', sentence: url };
    const origin = brokenRule(input?.checkoutOrigins ?? [], (text) => originViolation(text, environment));
    return origin === null ? null : { reason: 'origin_not_allowed', sentence: origin };
  },
  perform: async ({ needs: { db }, subject: { id }, input }) => done(await changeMerchant(db, id, input)),
});

/** Names the rule that one of the addresses violates; null: none does. */
function brokenRule(urls: readonly string[], violationOf: (url: string) => string | null): string | null {
  const broken = urls.map((url) => [url, violationOf(url)] as const).find(([, violation]) => violation !== null);
  return broken === undefined ? null : `The URL ${broken[1]}: ${broken[0]}`;
}
