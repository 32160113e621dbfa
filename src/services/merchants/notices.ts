import type { Queryable } from '../../db/connection/pool';
import { insertNoticeClosing, listOpenNotices, type OpenNotice } from '../../db/records/merchant-notices';
import { NotFoundError } from '../../errors';

/** A member of a merchant. */
interface NoticeReader {
  readonly merchantId: string;
  readonly userId: string;
}

/** What the member has not closed, the newest first: an owner sees all, another member those of the own login. */
export function listNotices(db: Queryable, reader: NoticeReader): Promise<OpenNotice[]> {
  return listOpenNotices(db, reader);
}

/**
 * Closes a notice for this member only, and the older ones if they want; a repeat changes nothing.
 * @throws NotFoundError if the merchant has no such notice, or the member does not see it
 */
export async function closeNotice(
  db: Queryable,
  reader: NoticeReader,
  { noticeId, withOlder = false }: { readonly noticeId: number; readonly withOlder?: boolean },
  now: Date,
): Promise<void> {
  if (await insertNoticeClosing(db, { ...reader, noticeId, withOlder, now })) return;
  throw new NotFoundError('notice', String(noticeId));
}
