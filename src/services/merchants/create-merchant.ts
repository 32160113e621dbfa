import { z } from 'zod';
import { FEE_PAYERS } from '../../domain/fees';
import { PROVIDERS } from '../../domain/provider-capabilities';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
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
  rejections: {},
  messages: {},
  load: (needs: AuditDependencies) => Promise.resolve(needs),
  target: ({ formId }) => formId,
  async perform({ needs: { db }, input, formId }) {
    return done(await insertMerchant(db, { ...input, id: formId }));
  },
});
