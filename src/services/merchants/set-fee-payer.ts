import { z } from 'zod';
import { findEnvironment } from '../../db/connection/environment';
import { FEE_PAYERS } from '../../domain/fees';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { FEE_PAYER_MESSAGES, FEE_PAYER_REASONS, isUnlawfulFeePayer } from './fee-payer';
import { findIdentityInForce } from './merchant-identity';
import { changeMerchant, ofMerchant } from './merchants';

/** Changes who pays the fee of a merchant's new payments. In production two operators decide it. */
export const setFeePayer = new Operation({
  name: 'merchant.set_fee_payer',
  operator: 'all',
  ...ofMerchant,
  input: z.object({ feePayer: z.enum(FEE_PAYERS) }),
  rejections: FEE_PAYER_REASONS,
  messages: FEE_PAYER_MESSAGES,
  async load(needs: AuditDependencies, scope, path) {
    const merchant = await ofMerchant.load(needs, scope, path);
    const identity = await findIdentityInForce(needs.db, merchant.id);
    return { ...merchant, class: identity?.class ?? null, environment: await findEnvironment(needs.db) };
  },
  allows: (merchant, _by, input) =>
    isUnlawfulFeePayer(input?.feePayer, merchant.environment, merchant.class) ? { reason: 'merchant_bears_fee' } : null,
  approval: { executes: 'database', target: ({ subject: { id, name } }) => `${name} (${id})` },
  async perform({ needs: { db }, subject: { id }, input }) {
    return done(await changeMerchant(db, id, input));
  },
});
