import { OPEN_LATE_PAYMENT_STATUSES } from '../../domain/late-payment';
import type { PaymentTerms } from '../../domain/payment';
import type { StepInput } from '../../domain/workflow-step';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { LATEST_REFUND, STATE_COLUMNS, stateOf, type StateRow } from '../transitions/payment-state';
import { TERMS_COLUMNS } from './find-terms';
import { IS_OPEN } from './payment-indexes';

/* What should run at Temporal, according to PostgreSQL: keyset pages over partial indexes. */

const PAGE = 500;

/** An open payment, with everything that its workflow needs to continue from its current state. */
export type OpenPayment = Pick<StepInput, 'terms' | 'state' | 'createdAtMs'>;

interface OpenPaymentRow extends StateRow {
  readonly terms: PaymentTerms;
  readonly createdAt: Date;
}

const OPEN_PAYMENTS = `
  select (select row_to_json(terms) from (select ${TERMS_COLUMNS}) terms) as terms,
    ${STATE_COLUMNS}, payments.created_at as "createdAt"
  from payments ${LATEST_REFUND}
  where ${IS_OPEN}`;

function openPaymentOf({ terms, createdAt, ...state }: OpenPaymentRow): OpenPayment {
  return { terms, state: stateOf(state), createdAtMs: createdAt.getTime() };
}

/** Undefined if the payment is final, or PostgreSQL does not have it. */
export async function findOpenPayment(db: Queryable, paymentId: string): Promise<OpenPayment | undefined> {
  const { rows } = await db.query<OpenPaymentRow>({
    name: 'find_open_payment',
    text: `${OPEN_PAYMENTS} and payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && openPaymentOf(rows[0]);
}

/** How many payments `listOpenPayments` has. */
export async function countOpenPayments(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_open_payments',
    text: `select count(*) from payments where ${IS_OPEN}`,
  });
  return rows[0]?.count ?? 0;
}

/**
 * @param begin the key after which the list begins
 * @param onPage called with the key of the last payment that was returned, before the next page is read
 */
export function listOpenPayments(
  db: Queryable,
  begin: Key = FIRST_KEY,
  onPage: (last: Key) => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<OpenPayment> {
  const read = async (after: string[]) => {
    const { rows } = await db.query<OpenPaymentRow>({
      name: 'list_open_payments',
      text: `${OPEN_PAYMENTS} and (payments.provider_account_id, payments.id) > ($1, $2)
        order by payments.provider_account_id, payments.id limit ${PAGE}`,
      values: after,
    });
    return rows.map((row): { key: Key; item: OpenPayment } => ({
      key: [row.terms.providerAccountId, row.terms.paymentId],
      item: openPaymentOf(row),
    }));
  };
  return pages(read, begin, onPage);
}

/** Payments with a late payment that is not final. */
export function listUnfinishedLatePayments(db: Queryable): AsyncGenerator<PaymentTerms> {
  return pages(async (after) => {
    const { rows } = await db.query<PaymentTerms>({
      name: 'list_unfinished_late_payments',
      text: `select ${TERMS_COLUMNS} from late_payments join payments on payments.id = late_payments.payment_id
        where late_payments.payment_id > $1 and late_payments.status in (${literalList(OPEN_LATE_PAYMENT_STATUSES)})
        order by late_payments.payment_id limit ${PAGE}`,
      values: [after[0]],
    });
    return rows.map((terms) => ({ key: [terms.paymentId, terms.paymentId], item: terms }));
  });
}

/** Undefined if the payment has no late payment, or that is final. */
export async function findUnfinishedLatePayment(db: Queryable, paymentId: string): Promise<PaymentTerms | undefined> {
  const { rows } = await db.query<PaymentTerms>({
    name: 'find_unfinished_late_payment',
    text: `select ${TERMS_COLUMNS} from late_payments join payments on payments.id = late_payments.payment_id
      where late_payments.payment_id = $1 and late_payments.status in (${literalList(OPEN_LATE_PAYMENT_STATUSES)})`,
    values: [paymentId],
  });
  return rows[0];
}

/** Ids of pending webhook deliveries that have a retry workflow. */
export function listDeliveriesInRetryWorkflow(db: Queryable): AsyncGenerator<string> {
  return pages(async (after) => {
    const { rows } = await db.query<{ endpointId: string; id: string }>({
      name: 'list_deliveries_in_retry_workflow',
      text: `select endpoint_id as "endpointId", id from webhook_deliveries
        where (endpoint_id, id) > ($1, $2) and status = 'pending' and retry_workflow_started_at is not null
        order by endpoint_id, id limit ${PAGE}`,
      values: after,
    });
    return rows.map(({ endpointId, id }) => ({ key: [endpointId, id], item: id }));
  });
}

/** Provider account or endpoint, and the id. */
export type Key = readonly [group: string, id: string];

const MIN_ID = '00000000-0000-0000-0000-000000000000';

const FIRST_KEY: Key = [MIN_ID, MIN_ID];

async function* pages<T>(
  read: (after: string[]) => Promise<{ key: Key; item: T }[]>,
  begin = FIRST_KEY,
  onPage: (last: Key) => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<T> {
  let after = begin;
  for (;;) {
    if (after !== begin) await onPage(after);
    const page = await read([...after]);
    for (const { item } of page) yield item;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}
