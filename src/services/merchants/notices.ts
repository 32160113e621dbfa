import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { insertNoticeClosings, listOpenNotices, type OpenNotice } from '../../db/merchants/merchant-notices';
import { NotFoundError } from '../../errors';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ofMerchant } from './merchants';

/** A member of a merchant. */
interface NoticeReader {
  readonly merchantId: string;
  readonly userId: string;
}

/** What the member has to see: an owner all of the merchant, another member those of the own login. */
export function listNotices(db: Queryable, reader: NoticeReader): Promise<OpenNotice[]> {
  return listOpenNotices(db, reader);
}

/**
 * Closes what the member has seen, for this member only; a repeat changes nothing. What occurred since is open. The
 * value of the session's cookie proves to PostgreSQL who closes. A notice that the member does not see is not found.
 */
export const closeNotices = new Operation({
  name: 'notice.close',
  ...ofMerchant,
  member: { area: 'payments', level: 'view', whileSuspended: true },
  input: z.object({
    seen: z.array(z.object({ id: z.int(), count: z.int() })),
    sessionToken: z.string().meta({ isSecret: true }),
  }),
  target: ({ input: { seen } }) => seen.map(({ id }) => id).join(' '),
  async perform({ needs: { db }, subject: { id: merchantId }, input }) {
    const closed = await insertNoticeClosings(db, { merchantId, ...input });
    if (closed === 0) throw new NotFoundError('notice', input.seen.map(({ id }) => id).join(', '));
    return done(undefined);
  },
});
