import { z } from 'zod';
import { findEnvironment } from '../../db/connection/environment';
import { FEE_PAYERS } from '../../domain/fees';
import { PROVIDERS } from '../../domain/provider-capabilities';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { FEE_PAYER_MESSAGES, FEE_PAYER_REASONS, isUnlawfulFeePayer } from './fee-payer';
import { UNIDENTIFIED_MESSAGES, UNIDENTIFIED_REASONS } from './merchant-identity';
import { insertMerchant } from './merchants';

export const MAX_MERCHANT_NAME_CHARACTERS = 100;

/** Registers a merchant, whose id is that of the form. */
export const createMerchant = new Operation({
  name: 'merchant.create',
  operator: 'all',
  path: z.object({}),
  input: z.object({
    name: z.string().min(1).max(MAX_MERCHANT_NAME_CHARACTERS),
    feePayer: z.enum(FEE_PAYERS),
    providers: z.array(z.enum(PROVIDERS)),
    approve: z.boolean(),
  }),
  rejections: { ...UNIDENTIFIED_REASONS, ...FEE_PAYER_REASONS },
  messages: { ...UNIDENTIFIED_MESSAGES, ...FEE_PAYER_MESSAGES },
  load: async ({ db }: AuditDependencies) => ({ environment: await findEnvironment(db) }),
  target: ({ formId }) => formId,
  allows({ environment }, _by, input) {
    if (isUnlawfulFeePayer(input?.feePayer, environment, null)) return { reason: 'merchant_bears_fee' };
    return environment === 'production' && input?.approve ? { reason: 'no_identity', subject: 'A new merchant' } : null;
  },
  async perform({ needs: { db }, input, formId }) {
    return done(await insertMerchant(db, { ...input, id: formId }));
  },
});
