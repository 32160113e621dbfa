import { createSealer } from '../../src/crypto/sealing';
import { PAYMENTS_TASK_QUEUE } from '../../workflows/ids';
import { retention } from '../../workflows/retention';
import { eventually } from '../support/eventually';
import { recordHistory } from '../support/history';
import { createMember, signIn } from '../support/people';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  receiver = await startReceiver();
  const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
  await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const EXPIRING = [
  'payment_details',
  'provider_notifications',
  'webhook_attempts',
  'webhook_deliveries',
  'webhook_events',
] as const;

async function rowsPerTable(paymentId: string): Promise<number[]> {
  const { rows } = await service.db.query<{ counts: number[] }>(
    `select array[
       (select count(*) from payment_details where payment_id = $1),
       (select count(*) from provider_notifications join payments using (reference_id) where payments.id = $1),
       (select count(*) from webhook_attempts join webhook_deliveries on delivery_id = id where payment_id = $1),
       (select count(*) from webhook_deliveries where payment_id = $1),
       (select count(*) from webhook_events where payment_id = $1)
     ]::integer[] as counts`,
    [paymentId],
  );
  return rows[0]?.counts ?? [];
}

/** A paid payment that has rows in every expiring table. */
async function createPaid(): Promise<string> {
  const { body } = await service.call('POST', '/payments', { amount: 50_000, customer: { name: 'Siti' } });
  const { id, reference_id } = body.payment;
  await service.pay(reference_id);
  await eventually(
    () =>
      service.db.query(
        `select from webhook_deliveries delivery join webhook_events event using (payment_id, payment_version)
         where payment_id = $1 and event.event = 'payment.paid' and status = 'delivered'`,
        [id],
      ),
    ({ rowCount }) => rowCount === 1,
  );
  await eventually(
    () => service.db.query('select from provider_notifications where closed_at is null'),
    ({ rowCount }) => rowCount === 0,
  );
  return id;
}

/** Moves the rows of a payment back in time. The trigger of the events is off meanwhile. */
async function age(paymentId: string, days: number): Promise<void> {
  const past = `now() - interval '${days} days'`;
  await service.db.query('alter table webhook_events disable trigger append_only');
  const statements = [
    `update webhook_events set occurred_at = ${past} where payment_id = $1`,
    `update webhook_deliveries set created_at = ${past} where payment_id = $1`,
    `update payment_details set created_at = ${past} where payment_id = $1`,
    `update provider_notifications set received_at = ${past}
     from payments where payments.id = $1 and payments.reference_id = provider_notifications.reference_id`,
  ];
  for (const statement of statements) await service.db.query(statement, [paymentId]);
  await service.db.query('alter table webhook_events enable trigger append_only');
}

const runRetention = (workflowId: string) =>
  service.client.workflow.execute(retention, { workflowId, taskQueue: PAYMENTS_TASK_QUEUE });

it('the daily job deletes what is older than its retention, and keeps the rest', async () => {
  const [old, recent] = [await createPaid(), await createPaid()];
  await age(old, 91);
  await age(recent, 89);
  await service.db.query("update payment_details set created_at = now() - interval '6 years' where payment_id = $1", [
    old,
  ]);
  const before = await rowsPerTable(recent);
  expect(before).toHaveLength(EXPIRING.length);
  expect(before.every((count) => count > 0)).toBe(true);

  const summary = await runRetention('retention-1');
  expect(summary).toMatch(/^webhook_deliveries: [1-9]\d* deleted, /);
  expect(summary).toMatch(/ unused_payment_details: 0 deleted, payment_details: 1 deleted, sessions: 0 deleted, /);
  expect(summary).toMatch(/, sign_in_links: 0 deleted$/);
  expect(await rowsPerTable(old)).toEqual([0, 0, 0, 0, 0]);
  expect(await rowsPerTable(recent)).toEqual(before);
  expect((await service.call('GET', `/payments/${old}`)).body.payment.status).toBe('paid');
  await recordHistory(service.client, 'retention-1', 'retention-recorded');
  const { rows } = await service.db.query('select is_complete, deleted from retention_runs order by id');
  expect(rows).toEqual([{ is_complete: true, deleted: expect.objectContaining({ payment_details: 1 }) }]);
});

it('deletes the details of a creation that failed before its payment existed', async () => {
  await service.db.query(
    `insert into payment_details (payment_id, fingerprint, sealed, created_at)
     values (gen_random_uuid(), 'f', 's', now() - interval '25 hours'), (gen_random_uuid(), 'f', 's', now())`,
  );
  await runRetention('retention-2');
  const { rowCount } = await service.db.query("select from payment_details where fingerprint = 'f'");
  expect(rowCount).toBe(1);
});

it('deletes sessions and sign-in links a month after their end', async () => {
  const now = Date.now();
  const dayMs = 86_400_000;
  await createMember(service.db, 'sri@toko.example', [[service.merchantId, 'owner']]);
  for (const days of [0, 36, 38]) await signIn(service.db, 'sri@toko.example', new Date(now - days * dayMs));
  await service.db.query("update sign_in_links set expires_at = created_at + interval '7 days'");
  expect(await runRetention('retention-3')).toContain('sessions: 1 deleted, sign_in_links: 1 deleted');
  await recordHistory(service.client, 'retention-3', 'retention-of-sign-ins');
  const { rows } = await service.db.query(
    `select (select count(*)::integer from sessions) as sessions,
       (select count(*)::integer from sign_in_links) as links`,
  );
  expect(rows).toEqual([{ sessions: 2, links: 2 }]);
});

it('a worker schedules the job', async () => {
  const { spec, action } = await service.client.schedule.getHandle('retention').describe();
  expect(spec.intervals?.[0]?.every).toBe(86_400_000);
  expect(action).toMatchObject({ workflowType: 'retention' });
});

it('attack: the database keeps young webhook events', async () => {
  const id = await createPaid();
  await expect(service.db.query('delete from webhook_events where payment_id = $1', [id])).rejects.toThrow(
    'append-only',
  );
  await expect(service.db.query('truncate webhook_events cascade')).rejects.toThrow('append-only');
});
