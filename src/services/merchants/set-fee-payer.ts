import { z } from 'zod';
import { FEE_PAYERS } from '../../domain/fees';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { changeMerchant, ofMerchant } from './merchants';

/** Changes who pays the fee of a merchant's new payments. In production two operators decide it. */
export const setFeePayer = new Operation({
  name: 'merchant.set_fee_payer',
  operator: 'all',
  ...ofMerchant,
  input: z.object({ feePayer: z.enum(FEE_PAYERS) }),
  approval: { executes: 'database', target: ({ subject: { id, name } }) => `${name} (${id})` },
  async perform({ needs: { db }, subject: { id }, input }) {
    return done(await changeMerchant(db, id, input));
  },
});
