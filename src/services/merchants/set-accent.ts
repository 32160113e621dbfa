import { z } from 'zod';
import { readColour } from '../../domain/accent';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ofLook, ofMerchant } from './merchants';

/** Sets the colour of the checkout page. Null: that of Lunas. */
export const setAccent = new Operation({
  name: 'merchant.set_accent',
  ...ofMerchant,
  member: ofLook,
  input: z.object({
    accent: z
      .string()
      .refine((text) => readColour(text) === text)
      .nullable(),
  }),
  detail: ({ input }) => input,
  async perform({ needs: { db }, subject: { id }, input: { accent } }) {
    await db.query('update merchants set accent = $2 where id = $1', [id, accent]);
    return done(undefined);
  },
});
