import { z } from 'zod';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { changeMerchant, ofMerchant } from './merchants';

/** Allows a merchant to take payments. */
export const approveMerchant = new Operation({
  name: 'merchant.approve',
  operator: 'all',
  ...ofMerchant,
  input: z.object({}),
  async perform({ needs: { db }, subject: { id } }) {
    return done(await changeMerchant(db, id, { status: 'approved' }));
  },
});
