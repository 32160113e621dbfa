import type { Queryable } from '../../db/connection/pool';
import {
  insertNoticeClosings,
  listOpenNotices,
  type OpenNotice,
  type SeenNotice,
} from '../../db/merchants/merchant-notices';
import { NotFoundError } from '../../errors';

/** A member of a merchant. */
interface NoticeReader {
  readonly merchantId: string;
  readonly userId: string;
}

/** What the member has to see: an owner all of the merchant, another member those of the own login. */
export function listNotices(db: Queryable, reader: NoticeReader): Promise<OpenNotice[]> {
  return listOpenNotices(db, reader);
}

/** A member of a merchant who closes notices, by the value of the session's cookie. */
interface NoticeCloser {
  readonly merchantId: string;
  readonly sessionToken: string;
}

/**
 * Closes what the member has seen, for this member only; a repeat changes nothing. What occurred since is open.
 * @throws NotFoundError if the merchant has none of these notices, or the member sees none of them
 */
export async function closeNotices(db: Queryable, closer: NoticeCloser, seen: readonly SeenNotice[]): Promise<void> {
  if ((await insertNoticeClosings(db, { ...closer, seen })) > 0) return;
  throw new NotFoundError('notice', seen.map(({ id }) => id).join(', '));
}
