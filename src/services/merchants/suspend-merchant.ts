import { z } from 'zod';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { changeMerchant, ofMerchant } from './merchants';

/** Rejects the requests of a merchant from now on. */
export const suspendMerchant = new Operation({
  name: 'merchant.suspend',
  operator: 'all',
  ...ofMerchant,
  input: z.object({}),
  async perform({ needs: { db }, subject: { id } }) {
    return done(await changeMerchant(db, id, { status: 'suspended' }));
  },
});
