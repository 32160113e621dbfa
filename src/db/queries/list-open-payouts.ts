import type { PayoutTerms } from '../../domain/payout';
import { OPEN_PAYOUT_STATUSES, type PayoutStatus } from '../../domain/payout-transitions';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';

const PAGE = 200;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** A payout, and where it is. */
export interface LocatedPayout extends Pick<PayoutTerms, 'payoutId' | 'merchantId'> {
  readonly status: PayoutStatus;
}

const COLUMNS = 'id as "payoutId", merchant_id as "merchantId", status';

/** Every open payout, in the order of their ids. */
export async function* listOpenPayouts(db: Queryable): AsyncGenerator<LocatedPayout> {
  for (let after: string | undefined = BEFORE_ALL; after !== undefined;) {
    const { rows }: { rows: LocatedPayout[] } = await db.query<LocatedPayout>({
      name: 'list_open_payouts',
      text: `select ${COLUMNS} from payouts
        where id > $1 and status in (${literalList(OPEN_PAYOUT_STATUSES)}) order by id limit ${PAGE}`,
      values: [after],
    });
    yield* rows;
    after = rows.at(-1)?.payoutId;
  }
}

/** Those of these payouts that PostgreSQL has, by their id. */
export async function findPayoutStatuses(
  db: Queryable,
  payoutIds: readonly string[],
): Promise<ReadonlyMap<string, LocatedPayout>> {
  const { rows } = await db.query<LocatedPayout>({
    name: 'find_payout_statuses',
    text: `select ${COLUMNS} from payouts where id = any ($1::uuid[])`,
    values: [payoutIds],
  });
  return new Map(rows.map((payout) => [payout.payoutId, payout]));
}
