import type { Queryable } from '../../db/connection/pool';
import { insertNoticeClosing, listOpenNotices, type OpenNotice } from '../../db/records/merchant-notices';
import { NotFoundError } from '../../errors';

/** An owner, at one merchant. */
interface NoticeReader {
  readonly merchantId: string;
  readonly userId: string;
}

/** What the owner has not closed, the newest first. Empty for a member who is no owner. */
export function listNotices(db: Queryable, reader: NoticeReader): Promise<OpenNotice[]> {
  return listOpenNotices(db, reader);
}

/**
 * Closes a notice for this owner only; a repeat changes nothing.
 * @throws NotFoundError if the merchant has no such notice, or the user is no owner
 */
export async function closeNotice(db: Queryable, reader: NoticeReader, noticeId: number, now: Date): Promise<void> {
  if (await insertNoticeClosing(db, { ...reader, noticeId, now })) return;
  throw new NotFoundError('notice', String(noticeId));
}
