import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { asSuperuser } from '../../support/backdate';
import { createOpenPayments } from '../../support/bulk';
import { eventually } from '../../support/eventually';
import { reconcile } from '../../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

/** Three of each kind, or many. */
const PLANTED = bySize({ small: 42, full: 1_000 });
const SOUND = Math.ceil(PLANTED / 10);
/** Five of the fourteen kinds of break are planted on paid payments. */
const PAID = Math.ceil(0.4 * PLANTED);
const BULK = 25;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { maxCachedWorkflows: 500 });
  await setPolicy(service.db, {
    provider: 'gopay',
    channel: 'qris',
    expiresInSeconds: 7_200,
    settlementDelaySeconds: 7_200,
  });
});
afterAll(() => service.close());

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

/** How to cause a break, on payments that are `pending` or `paid`. */
interface Plant {
  readonly on: 'pending' | 'paid';
  /** `ours` or the provider's database, by $1: ids or order ids. */
  readonly at: 'ours' | 'provider' | 'temporal';
  readonly sql: string;
  readonly kind: string;
}

const PLANTS: Readonly<Record<string, Plant>> = {
  'a status that never was': {
    on: 'pending',
    at: 'ours',
    sql: "update payments set status = 'expired' where id = any ($1)",
    kind: 'conflicting',
  },
  'paid in PostgreSQL only': {
    on: 'pending',
    at: 'ours',
    sql: "update payments set status = 'paid', paid_at = now() where id = any ($1)",
    kind: 'mismatch',
  },
  'another amount here': {
    on: 'pending',
    at: 'ours',
    sql: `update payments set amount_rupiah = 20000, total_rupiah = 20000, net_rupiah = 20000 - fee_rupiah,
      fee_terms = null
      where id = any ($1)`,
    kind: 'mismatch',
  },
  'another transaction here': {
    on: 'pending',
    at: 'ours',
    sql: "update payments set provider_transaction_id = 'another' where id = any ($1)",
    kind: 'duplicate',
  },
  'an expiry that did not fire': {
    on: 'pending',
    at: 'ours',
    sql: "update payments set expires_at = now() - interval '1 hour' where id = any ($1)",
    kind: 'overdue',
  },
  'a settlement that did not fire': {
    on: 'paid',
    at: 'ours',
    sql: "update payments set settlement_due_at = now() - interval '1 hour' where id = any ($1)",
    kind: 'overdue',
  },
  'a settlement that never was': {
    on: 'paid',
    at: 'ours',
    sql: `update payments set status = 'settled', updated_at = now() - interval '1 hour' where id = any ($1)`,
    kind: 'mismatch',
  },
  'a refund that never was': {
    on: 'paid',
    at: 'ours',
    sql: "update payments set status = 'refunded' where id = any ($1)",
    kind: 'conflicting',
  },
  'a customer who paid unnoticed': {
    on: 'pending',
    at: 'provider',
    sql: "update payments set status = 'settlement', paid_at = now() where order_id = any ($1)",
    kind: 'mismatch',
  },
  'another amount there': {
    on: 'pending',
    at: 'provider',
    sql: 'update payments set gross_amount_rupiah = 40000 where order_id = any ($1)',
    kind: 'mismatch',
  },
  'an order that is gone': {
    on: 'pending',
    at: 'provider',
    sql: 'delete from payments where order_id = any ($1)',
    kind: 'missing',
  },
  'another transaction there': {
    on: 'paid',
    at: 'provider',
    sql: "update payments set transaction_id = 'another-' || order_id where order_id = any ($1)",
    kind: 'duplicate',
  },
  'two refunds': {
    on: 'paid',
    at: 'provider',
    sql: `with taken as (update payments set status = 'refund' where order_id = any ($1) returning order_id)
      insert into refunds (order_id, refund_key, amount_rupiah, reason, status, confirmed_at)
      select order_id, order_id || number, 50000, 'planted', 'confirmed', now()
      from taken, generate_series(1, 2) number`,
    kind: 'duplicate',
  },
  'a workflow that is gone': { on: 'pending', at: 'temporal', sql: '', kind: 'missing' },
};

async function createPayments(count: number, paid: boolean): Promise<Created[]> {
  const created: Created[] = [];
  while (created.length < count) {
    const size = Math.min(BULK, count - created.length);
    const { body } = await createOpenPayments(service, size, 50_000);
    created.push(...body.payments);
    if (paid) for (const { reference_id } of body.payments) await service.pay(reference_id);
  }
  return created;
}

async function plant({ at, sql }: Plant, payments: readonly Created[]): Promise<void> {
  const ids = payments.map(({ id }) => id);
  const orders = payments.map(({ reference_id }) => reference_id);
  if (at === 'ours') await asSuperuser(service.db, { text: sql, values: [ids] });
  else if (at === 'provider') await service.providerDb.query(sql, [orders]);
  else for (const id of ids) await service.client.workflow.getHandle(`payment-${id}`).terminate();
}

it(`finds each of ${PLANTED} breaks and no other, and status queries resolve those that they can`, async () => {
  const names = Object.keys(PLANTS);
  const [pending, paid] = [await createPayments(PLANTED + SOUND, false), await createPayments(PAID, true)];
  await eventually(
    () => service.db.query("select 1 from payments where status = 'paid'"),
    ({ rowCount }) => rowCount === paid.length,
  );
  // A workflow that is still behind PostgreSQL would be a break of its own.
  await eventually(
    () => Promise.all(paid.map(async ({ id }) => (await service.workflows.queryStatus(id))?.status)),
    (statuses) => statuses.every((status) => status === 'paid'),
  );
  const pools = { pending: [...pending], paid: [...paid] };
  const planted = new Map<string, { name: string; kind: string }>();
  for (const [index, name] of names.entries()) {
    const plan = PLANTS[name];
    if (!plan) continue;
    const share = Math.floor(PLANTED / names.length) + (index < PLANTED % names.length ? 1 : 0);
    const victims = pools[plan.on].splice(0, share);
    expect(victims).toHaveLength(share);
    await plant(plan, victims);
    for (const { id } of victims) planted.set(id, { name, kind: plan.kind });
  }
  expect(planted.size).toBe(PLANTED);

  const { seen, compared, indeterminate, breakCount, breaks, parts } = await reconcile(service);
  const all = pending.length + paid.length;
  expect([compared, indeterminate, breakCount]).toEqual([seen, 0, breaks.length]);
  // Payments that catch up during the run are seen as open and then as final.
  expect(seen).toBeGreaterThanOrEqual(all);
  expect(parts).toHaveLength(3);
  const found = new Map(breaks.map(({ paymentId, kind }) => [paymentId, kind]));
  expect(breaks.filter(({ paymentId }) => !planted.has(paymentId))).toEqual([]);
  expect([...planted].filter(([id]) => !found.has(id)).map(([, { name }]) => name)).toEqual([]);
  const kindsOf = (id: string) => breaks.filter(({ paymentId }) => paymentId === id).map(({ kind }) => kind);
  const wrong = [...planted].filter(([id, { kind }]) => !kindsOf(id).some((found) => found === kind));
  expect(wrong.map(([id, { name, kind }]) => `${name}: ${kindsOf(id).join()} instead of ${kind}`)).toEqual([]);

  const unnoticed = [...planted].filter(([, { name }]) => name === 'a customer who paid unnoticed').map(([id]) => id);
  await eventually(
    () => service.db.query("select 1 from payments where id = any ($1) and status = 'paid'", [unnoticed]),
    ({ rowCount }) => rowCount === unnoticed.length,
  );
  const { rows } = await service.db.query("select count(*) as open from exceptions where kind = 'reconciliation'");
  expect(rows[0].open).toBeGreaterThan(PLANTED / 2);
}, 1_200_000);
