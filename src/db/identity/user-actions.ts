import type { ActionEnd } from '../../domain/recorded-outcome';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

export interface NewUserAction {
  readonly userId: string;
  /** Null: it belongs to the login, not to a merchant. */
  readonly merchantId: string | null;
  readonly action: string;
  /** The id of the object that the action creates or changes. */
  readonly target: string;
  readonly detail: string | null;
  readonly address: string;
}

const INSERT = `insert into user_actions (actor, via, user_id, merchant_id, action, target, detail, address)
  values ('user:' || $1::uuid, 'dashboard', $1, $2, $3, $4, $5, $6) returning id`;

const valuesOf = ({ userId, merchantId, action, target, detail, address }: NewUserAction) => [
  userId,
  merchantId,
  action,
  target,
  detail,
  address,
];

/** @returns the id of the row, for its outcome */
export async function insertUserAction(db: Queryable, action: NewUserAction): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'insert_user_action',
    text: INSERT,
    values: valuesOf(action),
  });
  if (!rows[0]) throw new Error('The action was not written into the log of user actions');
  return rows[0].id;
}

export async function insertUserActionOutcome(
  db: Queryable,
  actionId: number,
  { outcome, detail }: ActionEnd,
): Promise<void> {
  await db.query('insert into user_action_outcomes (action_id, outcome, detail) values ($1, $2, $3)', [
    actionId,
    outcome,
    detail,
  ]);
}

/** Writes an action that has ended, with its outcome, in one statement. */
export async function insertEndedUserAction(
  db: Queryable,
  action: NewUserAction,
  { outcome, detail }: ActionEnd,
): Promise<void> {
  await db.query(
    `with recorded as (${INSERT})
     insert into user_action_outcomes (action_id, outcome, detail) select id, $7, $8 from recorded`,
    [...valuesOf(action), outcome, detail],
  );
}

/**
 * The total of a payment and of those whose refunds the user requested within the last `windowMs`, in rupiah. An action
 * counts from its row on, which is written before it is executed: of two at the same time, one sees the other. A
 * rejected one does not count.
 */
export async function sumRefundActions(
  db: Queryable,
  { userId, paymentId, windowMs }: { readonly userId: string; readonly paymentId: string; readonly windowMs: number },
): Promise<number> {
  const { rows } = await db.query<{ rupiah: number }>({
    name: 'sum_refund_actions',
    text: `select coalesce(sum(total_rupiah), 0)::bigint as rupiah from payments
      where id in (
        select target::uuid from user_actions action
        where user_id = $1 and action = 'payment.refund'
          and requested_at > clock_timestamp() - $3 * interval '1 millisecond'
          and not exists (select from user_action_outcomes where action_id = action.id and outcome = 'rejected')
        union all select $2::uuid)`,
    values: [userId, paymentId, windowMs],
  });
  return onlyRow(rows).rupiah;
}
