import { z } from 'zod';
import { deleteLogo } from '../../db/merchants/merchant-logos';
import { NotFoundError } from '../../errors';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ofLook, ofMerchant } from './merchants';

/** Removes the logo from the checkout page: operators take an abusive one away. */
export const removeLogo = new Operation({
  name: 'merchant.remove_logo',
  operator: 'all',
  ...ofMerchant,
  member: ofLook,
  input: z.object({}),
  async perform({ needs: { db }, by, subject: { id } }) {
    // A member who sends the form twice has no logo, as they wanted.
    if (!(await deleteLogo(db, id)) && by.kind !== 'merchant_user') throw new NotFoundError('logo', id);
    return done(undefined);
  },
});
