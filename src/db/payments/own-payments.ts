import { actorText } from '../../domain/actor';
import type { Queryable } from '../connection/pool';
import { PAYMENT_COLUMNS, type PaymentRow } from './payment-row';

/** A shop whose server creates many payments costs no more than these. */
const MAX_READ = 500;

interface OwnPayments {
  readonly merchantId: string;
  readonly userId: string;
  readonly since: Date;
}

/** The payments that a user has created, among the newest of the merchant; the newest first. */
export async function listOwnPayments(
  db: Queryable,
  { merchantId, userId, since }: OwnPayments,
  limit: number,
): Promise<PaymentRow[]> {
  const { rows } = await db.query<PaymentRow>({
    name: 'list_own_payments',
    text: `
      select ${PAYMENT_COLUMNS}
      from (
        select * from payments where merchant_id = $1 and created_at >= $2
        order by created_at desc, id desc limit ${MAX_READ}
      ) payments
        join payment_transitions creation on creation.payment_id = payments.id and creation.version = 1
      where creation.actor = $3
      order by payments.created_at desc, payments.id desc limit $4`,
    values: [merchantId, since, actorText({ kind: 'merchant_user', id: userId }), limit],
  });
  return rows;
}
