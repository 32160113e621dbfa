import { z } from 'zod';
import { replaceLogo } from '../../db/merchants/merchant-logos';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ofLook, ofMerchant } from './merchants';

/** Sets the logo of the checkout page to an image of `readLogoFile`. */
export const setLogo = new Operation({
  name: 'merchant.set_logo',
  ...ofMerchant,
  member: ofLook,
  input: z.object({ width: z.int(), height: z.int(), png: z.instanceof(Buffer) }),
  detail: ({ input: { width, height } }) => ({ width, height }),
  async perform({ needs: { db }, subject: { id }, input }) {
    await replaceLogo(db, id, input);
    return done(undefined);
  },
});
