import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { bindStatement, prepareStatement } from '../../src/db/connection/statement';
import { COMMON_PARAMETERS, isRecorded } from '../../src/db/transitions/apply-transition';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { SUBJECT_TABLES } from '../../src/db/transitions/subjects';
import { compareAndSetSql, transitionStatement, type TransitionSubject } from '../../src/db/transitions/transition-sql';
import { streamPageStatement } from '../../src/db/webhooks/find-webhook-stream';
import type { LedgerLine } from '../../src/domain/ledger';
import { redeliverNamed } from '../../src/services/webhooks/webhook-redelivery';
import { claimStatement } from '../../src/webhooks/outbox';
import { recordDelivered } from '../../src/webhooks/record-attempt';
import { eventually } from '../support/eventually';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
import { registerEndpoint } from '../support/webhooks';

/** A kind besides payments. An endpoint receives its events only if it lists them. */
const DEPOSIT: TransitionSubject = {
  kind: 'deposit',
  table: 'deposits',
  referenceColumn: 'reference_id',
  transitions: 'deposit_transitions',
  events: 'deposit_events',
  idColumn: 'deposit_id',
  versionColumn: 'deposit_version',
  eventBody: (event) => `
    select changed.id, '${event}' as event, changed.status, :environment::text as environment,
      changed.gross_rupiah as gross_amount`,
};

const KINDS = [SUBJECT_TABLES.payment, DEPOSIT];

const TABLES = `
  create table deposits (
    id uuid primary key, reference_id text not null unique, merchant_id uuid not null references merchants,
    gross_rupiah bigint not null, status text not null, version integer not null, updated_at timestamptz(3) not null
  );
  create table deposit_transitions (like payment_transitions including all);
  alter table deposit_transitions rename payment_id to deposit_id;
  create table deposit_events (like webhook_events including all);
  alter table deposit_events rename payment_id to deposit_id;
  alter table deposit_events rename payment_version to deposit_version;
  alter table webhook_deliveries add deposit_id uuid, add deposit_version integer,
    drop constraint webhook_deliveries_has_one_subject,
    add foreign key (deposit_id, deposit_version) references deposit_events,
    add check (num_nonnulls(payment_id, deposit_id) = 1);
  alter table ledger_postings add deposit_id uuid, add deposit_version integer,
    drop constraint ledger_postings_has_one_source,
    add foreign key (deposit_id, deposit_version) references deposit_transitions;`;

const PAID_IN: readonly LedgerLine<'gross'>[] = [
  { side: 'debit', account: 'cash', amount: 'gross' },
  { side: 'credit', account: 'suspense', amount: 'gross' },
];

const open = { name: 'open', rule: { from: null, to: 'opened', posting: [] } };
const complete = { name: 'complete', rule: { from: 'opened', to: 'completed', posting: PAID_IN } };

const OPEN = prepareStatement(
  'open_deposit',
  [...COMMON_PARAMETERS, 'depositId', 'merchantId', 'at'],
  transitionStatement(DEPOSIT, open, {
    change: `changed as (
  insert into deposits
  select :depositId::uuid, 'DP-' || :depositId::uuid, :merchantId, 70000, 'opened', 1, :at returning *
)`,
    columns: '',
  }),
);
const COMPLETE = prepareStatement(
  'complete_deposit',
  [...COMMON_PARAMETERS, 'depositId', 'version', 'at'],
  transitionStatement(DEPOSIT, complete, { change: compareAndSetSql(DEPOSIT, complete.rule, []), columns: '' }),
);

const AT = new Date('2026-01-05T03:00:00.000Z');
const COMMON = { actor: 'workflow', note: null, environment: 'sandbox', requestId: 'req-1', traceparent: null };

const sealer = createSealer(randomBytes(32).toString('base64'));

let ledger: TestLedger;

beforeEach(async () => {
  ledger = await createTestLedger();
  await ledger.db.query(TABLES);
});

afterEach(() => ledger.close());

/** @param events null: every event of payments */
async function register(events: readonly string[] | null): Promise<string> {
  const endpoint = { merchantId: ledger.merchantId, url: 'http://127.0.0.1:9' } as const;
  const { id } = await registerEndpoint(ledger.db, sealer, { ...endpoint, events: [] });
  await ledger.db.query('update webhook_endpoints set events = $2 where id = $1', [id, events]);
  return id;
}

async function openDeposit(): Promise<{ readonly id: string; readonly rows: unknown[] }> {
  const id = randomUUID();
  const values = { ...COMMON, depositId: id, merchantId: ledger.merchantId, at: AT };
  const { rows } = await ledger.db.query(bindStatement(OPEN, values));
  return { id, rows };
}

async function completeDeposit(id: string): Promise<unknown[]> {
  const values = { ...COMMON, depositId: id, version: 1, at: AT };
  return (await ledger.db.query(bindStatement(COMPLETE, values))).rows;
}

async function createPayment(): Promise<string> {
  const terms = ledger.newTerms();
  await transitionWriters.create(ledger.context, creation(terms, AT));
  return terms.paymentId;
}

type StreamRow = readonly [xid: string, kind: string, id: string, version: number, isRedelivery: boolean];

type Cursor = readonly [xid: string, id: string, version: number];

/** So many events of the merchant after a cursor, and the cursor of the last one. */
async function readStream(cursor: Cursor, count: number) {
  const query = { text: streamPageStatement(KINDS), values: [...cursor, ledger.merchantId] };
  // A transaction of another test's database may be older: a page ends before it.
  const page = await eventually(
    async () => (await ledger.db.query<{ page: { events: StreamRow[]; last: Cursor | null } }>(query)).rows[0]?.page,
    (found) => found?.events.length === count,
    240_000,
  );
  const events = page?.events.map(([, kind, id, version, isRedelivery]) => ({ kind, id, version, isRedelivery }));
  return { events, last: page?.last ?? cursor };
}

describe('a second kind of subject', () => {
  it('a second kind of subject has transitions, postings and events by the same statement', async () => {
    await register(['deposit.completed']);
    const { id, rows } = await openDeposit();
    expect(rows).toEqual([{ status: 'opened', version: 1, deliveries: 0 }]);
    expect(await completeDeposit(id)).toEqual([{ status: 'completed', version: 2, deliveries: 1 }]);
    expect(await completeDeposit(id)).toEqual([]);

    const { rows: transitions } = await ledger.db.query(
      'select deposit_id, version, name, from_status, to_status, request_id from deposit_transitions order by version',
    );
    expect(transitions).toEqual([
      { deposit_id: id, version: 1, name: 'open', from_status: null, to_status: 'opened', request_id: 'req-1' },
      {
        deposit_id: id,
        version: 2,
        name: 'complete',
        from_status: 'opened',
        to_status: 'completed',
        request_id: 'req-1',
      },
    ]);
    const { rows: entries } = await ledger.db.query(
      `select payment_id, deposit_version, account, side, amount_rupiah
       from ledger_entries join ledger_postings posting on posting.id = posting_id where deposit_id = $1 order by line`,
      [id],
    );
    const posting = { payment_id: null, deposit_version: 2, amount_rupiah: 70_000 };
    expect(entries).toEqual([
      { ...posting, account: 'cash', side: 'debit' },
      { ...posting, account: 'suspense', side: 'credit' },
    ]);
    const { rows: events } = await ledger.db.query('select body from deposit_events where deposit_version = 2');
    const body = { id, event: 'deposit.completed', status: 'completed', environment: 'sandbox', gross_amount: 70_000 };
    expect(events).toEqual([{ body: JSON.stringify(body) }]);

    const key = { id, version: 1 };
    expect(await isRecorded(ledger.db, DEPOSIT, { ...key, name: 'complete' })).toBe(true);
    expect(await isRecorded(ledger.db, DEPOSIT, { ...key, name: 'open' })).toBe(false);
  });

  it('a second kind of subject has deliveries to the endpoints that list its events', async () => {
    const everyPaymentEvent = await register(null);
    const listed = await register(['deposit.opened', 'payment.created']);
    const { id } = await openDeposit();
    const paymentId = await createPayment();
    const { rows } = await ledger.db.query({ text: claimStatement(KINDS), values: [9, 9] });
    const claimed = rows.map(({ kind, subjectId, referenceId, event, requestId, endpointId, body }) => ({
      kind,
      subjectId,
      event,
      requestId,
      endpointId,
      hasOwnReference: kind === 'deposit' ? referenceId === `DP-${id}` : body.includes(`"${referenceId}"`),
    }));
    const deposit = { kind: 'deposit', subjectId: id, event: 'deposit.opened', requestId: 'req-1' };
    const payment = { kind: 'payment', subjectId: paymentId, event: 'payment.created', requestId: null };
    const expected = [
      { ...deposit, endpointId: listed, hasOwnReference: true },
      { ...payment, endpointId: listed, hasOwnReference: true },
      { ...payment, endpointId: everyPaymentEvent, hasOwnReference: true },
    ];
    expect(claimed).toHaveLength(expected.length);
    expect(claimed).toEqual(expect.arrayContaining(expected));
  });

  it('a second kind of subject has events and redeliveries in the one stream of a merchant', async () => {
    await register(['deposit.opened']);
    const { rows: start } = await ledger.db.query<{ xid: string }>(
      'select pg_snapshot_xmin(pg_current_snapshot())::text as xid',
    );
    const { id } = await openDeposit();
    const paymentId = await createPayment();
    const beginning = [start[0]?.xid ?? '', '00000000-0000-0000-0000-000000000000', 0] as const;
    const first = await readStream(beginning, 2);
    expect(first.events).toEqual([
      { kind: 'deposit', id, version: 1, isRedelivery: false },
      { kind: 'payment', id: paymentId, version: 1, isRedelivery: false },
    ]);
    expect(await readStream(first.last, 0)).toEqual({ events: [], last: first.last });

    const { rows: deliveries } = await ledger.db.query({ text: claimStatement(KINDS), values: [9, 9] });
    const [delivery] = deliveries;
    const attempt = { startedAt: AT, durationMs: 1, statusCode: 200, failure: null, responseExcerpt: '' };
    await recordDelivered(ledger.db, [{ delivery, attempt: { ...attempt, retryAfterSeconds: null } }]);
    expect(await redeliverNamed(ledger.db, [delivery.deliveryId])).toEqual({ redelivered: 1, skipped: 0 });
    const { events, last } = await readStream(first.last, 1);
    expect(events).toEqual([{ kind: 'deposit', id, version: 1, isRedelivery: true }]);
    expect(last).toEqual([expect.stringMatching(/^\d+$/), id, 1]);
  });
});
