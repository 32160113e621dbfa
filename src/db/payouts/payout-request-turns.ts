import type { Queryable } from '../connection/pool';

/** A payout of a merchant. */
export interface RequestTurn {
  readonly merchantId: string;
  readonly payoutId: string;
}

/**
 * Takes the merchant's turn to request a payout, if it is free, or if the payout itself or `before` has it.
 * @param before the payout that has the turn, whose request was decided
 * @returns whether the payout has the turn
 */
export async function takeRequestTurn(
  db: Queryable,
  { merchantId, payoutId }: RequestTurn,
  before: string = payoutId,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'take_payout_request_turn',
    text: `insert into payout_request_turns as turn (merchant_id, payout_id) values ($1, $2)
      on conflict (merchant_id) do update set payout_id = excluded.payout_id, taken_at = now()
      where turn.payout_id in (excluded.payout_id, $3)`,
    values: [merchantId, payoutId, before],
  });
  return rowCount === 1;
}

/** Who has the turn. */
export interface TakenTurn {
  readonly payoutId: string;
  /** By the clock of PostgreSQL. */
  readonly takenForSeconds: number;
}

/** The payout whose turn it is to be requested; undefined if the merchant has requested none. */
export async function findRequestTurn(db: Queryable, merchantId: string): Promise<TakenTurn | undefined> {
  const { rows } = await db.query<TakenTurn>({
    name: 'find_payout_request_turn',
    text: `select payout_id as "payoutId", extract(epoch from now() - taken_at)::float8 as "takenForSeconds"
      from payout_request_turns where merchant_id = $1`,
    values: [merchantId],
  });
  return rows[0];
}
