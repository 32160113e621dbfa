import { z } from 'zod';

/** What the bank has of one of our references: the calls that it received, and each movement of money. */
const transfersSchema = z.object({
  transfers: z.array(
    z.object({
      partner_reference_no: z.string(),
      status: z.string(),
      send_calls: z.number(),
      executions: z.array(
        z.object({
          direction: z.enum(['out', 'back']),
          amount_rupiah: z.number(),
          account_number: z.string(),
          executed_at: z.coerce.date(),
        }),
      ),
    }),
  ),
});
export type ObservedTransfer = z.infer<typeof transfersSchema>['transfers'][number];

export interface ObservedPayout {
  readonly id: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly bankAccountId: string;
  readonly grossRupiah: number;
  readonly feeRupiah: number;
  readonly amountRupiah: number;
  readonly status: string;
  readonly version: number;
  readonly approvalKind: string;
  readonly requestedBy: string;
  readonly approvedBy: string | null;
  /** The permissions for a call to the bank. */
  readonly sendCount: number;
  readonly lineCount: number;
  /** The number of its lines without its own. */
  readonly claimedLines: number;
  /** The sum of all its lines, its own included. */
  readonly claimedRupiah: number;
}

export interface PayoutTransitionRecord {
  readonly payoutId: string;
  readonly version: number;
  readonly name: string;
  readonly from: string | null;
  readonly to: string;
  readonly recordedAt: Date;
  readonly event: string | null;
  readonly body: string | null;
}

export interface PayoutDeliveryRecord {
  readonly id: string;
  readonly payoutId: string;
  readonly version: number;
  readonly endpointId: string;
  readonly status: 'pending' | 'delivered' | 'dead';
  readonly isAbandoned: boolean;
}

/** An endpoint of a merchant. */
export interface EndpointRecord {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  /** Null: every event of payments. */
  readonly events: readonly string[] | null;
}

/** What the ledger has of one payout, debit minus credit. */
export interface PayoutBalance {
  readonly payoutId: string;
  readonly sum: number;
  readonly available: number;
  readonly inTransit: number;
  readonly fee: number;
  readonly cash: number;
}

/** A merchant's balance: by the ledger, and by its lines. */
export interface MerchantBalance {
  readonly merchantId: string;
  readonly ledger: number;
  readonly lines: number;
  readonly unclaimed: number;
}

interface OpenNotification {
  readonly referenceId: string;
  readonly reportedStatus: string;
  /** The bank's status may lag behind a notification for two minutes; then it is closed at the next query. */
  readonly mayBeAhead: boolean;
  readonly attempts: string;
}

export interface ObservedPayouts {
  readonly payouts: readonly ObservedPayout[];
  readonly transitions: readonly PayoutTransitionRecord[];
  readonly deliveries: readonly PayoutDeliveryRecord[];
  readonly endpoints: readonly EndpointRecord[];
  readonly balances: readonly PayoutBalance[];
  readonly merchants: readonly MerchantBalance[];
  /** Debit minus credit of the account, over all postings. */
  readonly inTransitRupiah: number;
  readonly openNotifications: readonly OpenNotification[];
  readonly exceptions: readonly { readonly kind: string; readonly referenceId: string }[];
}

export async function readTransfers(sandboxUrl: string): Promise<Map<string, ObservedTransfer>> {
  const response = await fetch(`${sandboxUrl}/simulator/transfers`);
  const { transfers } = transfersSchema.parse(await response.json());
  return new Map(transfers.map((transfer) => [transfer.partner_reference_no, transfer]));
}

/** A relay polls every second, so it claims a delivery in this time after its lease. */
const ABANDONED_AFTER = "interval '8 seconds'";
export const IS_ABANDONED = `status = 'pending' and retry_workflow_started_at is null
  and greatest(leased_until, created_at) < now() - ${ABANDONED_AFTER}`;

const SIGNED = "case side when 'debit' then amount_rupiah else -amount_rupiah end";
const sumOf = (account: string) => `coalesce(sum(${SIGNED}) filter (where account = '${account}'), 0)::bigint`;

/** @param read within the transaction that reads everything else */
export async function readObservedPayouts(
  read: <Row extends object>(text: string) => Promise<Row[]>,
): Promise<ObservedPayouts> {
  const [inTransit] = await read<{ sum: number }>(`select ${sumOf('payout_in_transit')} as sum from ledger_entries`);
  return {
    payouts: await read(
      `select id, reference_id as "referenceId", payout.merchant_id as "merchantId",
         bank_account_id as "bankAccountId", gross_rupiah as "grossRupiah", fee_rupiah as "feeRupiah",
         payout.amount_rupiah as "amountRupiah", status, version, approval_kind as "approvalKind",
         requested_by as "requestedBy", approved_by as "approvedBy", send_count as "sendCount",
         line_count as "lineCount", coalesce(line.count, 0) as "claimedLines", coalesce(line.sum, 0) as "claimedRupiah"
       from payouts payout left join (
         select payout_id, count(*) filter (where source_payout_id is distinct from payout_id) as count,
           sum(amount_rupiah)::bigint as sum
         from balance_transactions group by payout_id) line on line.payout_id = payout.id`,
    ),
    transitions: await read(
      `select transition.payout_id as "payoutId", version, name, from_status as "from", to_status as "to",
         recorded_at as "recordedAt", event, body
       from payout_transitions transition left join payout_events event
         on event.payout_id = transition.payout_id and event.payout_version = transition.version
       order by transition.payout_id, version`,
    ),
    deliveries: await read(
      `select id, payout_id as "payoutId", payout_version as version, endpoint_id as "endpointId", status,
         ${IS_ABANDONED} as "isAbandoned"
       from webhook_deliveries where payout_id is not null`,
    ),
    endpoints: await read('select id, merchant_id as "merchantId", url, events from webhook_endpoints'),
    balances: await read(
      `select payout_id as "payoutId", sum(${SIGNED})::bigint as sum, ${sumOf('merchant_available')} as available,
         ${sumOf('payout_in_transit')} as "inTransit", ${sumOf('fee_revenue')} as fee, ${sumOf('cash')} as cash
       from ledger_postings join ledger_entries on posting_id = ledger_postings.id
       where payout_id is not null group by payout_id`,
    ),
    merchants: await read(
      `select ledger.merchant_id as "merchantId", -ledger.sum as ledger, coalesce(line.lines, 0) as lines,
         coalesce(line.unclaimed, 0) as unclaimed
       from (select merchant_id, ${sumOf('merchant_available')} as sum
           from ledger_postings join ledger_entries on posting_id = ledger_postings.id group by merchant_id) ledger
         left join (select merchant_id, sum(amount_rupiah)::bigint as lines,
             sum(amount_rupiah) filter (where payout_id is null)::bigint as unclaimed
           from balance_transactions group by merchant_id) line using (merchant_id)`,
    ),
    inTransitRupiah: inTransit?.sum ?? 0,
    openNotifications: await read(
      `select reference_id as "referenceId", coalesce(reported_status, 'our own') as "reportedStatus",
         received_at > now() - interval '4 minutes' as "mayBeAhead",
         format('%s attempts, received %s, due %s', notify_attempts, received_at, next_notify_at) as attempts
       from provider_notifications where closed_at is null and reference_id like 'LP%'`,
    ),
    exceptions: await read(`select kind, reference_id as "referenceId" from exceptions where reference_id like 'LP%'`),
  };
}
