import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/db/connection/pool';

/** What stays of an archived payment, without its file. @param day when it was created: `YYYY-MM-DD`, UTC */
export async function archiveRow(db: Queryable, merchantId: string, day: string) {
  const paymentId = randomUUID();
  const referenceId = `LN${paymentId.replaceAll('-', '').slice(0, 16).toUpperCase()}`;
  await db.query(
    `with file as (
       insert into archive_files (day, completed_at, sha256, path, removal_began_at)
       values ($4, now(), sha256(''), '/archive', now()) returning id
     ), batch as (
       insert into archive_batches (file_id, number, payment_count, created_from, created_to, sha256, removed_at)
       select id, 1, 1, $4, $4, sha256(''), now() from file returning id
     )
     insert into archived_payments (payment_id, reference_id, merchant_id, batch_id, received_money)
     select $1, $2, $3, id, true from batch`,
    [paymentId, referenceId, merchantId, day],
  );
  return { paymentId, referenceId };
}
