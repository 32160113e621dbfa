import { closeDays } from '../../workflows/close-days';
import { PAYMENTS_TASK_QUEUE } from '../../workflows/ids';
import { recordHistory } from '../support/history';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

it('closes the days that are over, with the rights of the worker', async () => {
  await service.db.query(
    `insert into balance_transactions (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
     values (1, $1, 'settlement', 700, gen_random_uuid(), now(), '2025-01-02')`,
    [service.merchantId],
  );
  const workflowId = 'close-days-1';
  const summary = await service.client.workflow.execute(closeDays, { workflowId, taskQueue: PAYMENTS_TASK_QUEUE });
  expect(summary).toMatch(/^[1-9]\d* days closed$/);
  const { rows } = await service.db.query('select day::text, closing_rupiah from balance_days');
  expect(rows).toEqual([{ day: '2025-01-02', closing_rupiah: 700 }]);
  const { rows: runs } = await service.db.query('select kind, is_complete, done_count > 0 as has_done from daily_runs');
  expect(runs).toEqual([{ kind: 'closing', is_complete: true, has_done: true }]);
  await recordHistory(service.client, workflowId, 'close-days');
});

it('a worker schedules it at 00:30 WIB', async () => {
  const { spec, action } = await service.client.schedule.getHandle('close-days').describe();
  expect(spec.calendars).toMatchObject([{ hour: [{ start: 17, end: 17 }], minute: [{ start: 30, end: 30 }] }]);
  expect(action).toMatchObject({ workflowType: 'closeDays' });
});
