import { VERIFIER_TASK_QUEUE } from '../../workflows/ids';
import { verifyAudit, verifyLedger, verifyNewAuditEntries } from '../../workflows/verifications';
import { eventually } from '../support/eventually';
import { recordHistory } from '../support/history';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const DAY_MS = 86_400_000;

const readRuns = async (kind: string) =>
  (await service.db.query('select is_complete, failure from daily_runs where kind = $1', [kind])).rows;

const COMPLETE = { is_complete: true, failure: null };

it.each([
  [verifyLedger, 'verify-ledger', 'ledger_verification'],
  [verifyAudit, 'verify-audit', 'audit_verification'],
] as const)('%p leaves a row in daily_runs', async (workflow, workflowId, kind) => {
  const summary = await service.client.workflow.execute(workflow, { workflowId, taskQueue: VERIFIER_TASK_QUEUE });
  expect(summary).toMatch(/^\d+ verified, 0 breaks$/);
  expect(await readRuns(kind)).toEqual([COMPLETE]);
  await recordHistory(service.client, workflowId, workflowId);
});

it('verifies new entries of the audit log, without a row', async () => {
  const workflowId = 'verify-new-audit-entries';
  const run = { workflowId, taskQueue: VERIFIER_TASK_QUEUE };
  expect(await service.client.workflow.execute(verifyNewAuditEntries, run)).toMatch(/^\d+ verified, 0 breaks$/);
  await recordHistory(service.client, workflowId, workflowId);
});

it.each([
  ['ledger-verification', 'verifyLedger', { calendars: [{ hour: [{ start: 18 }], minute: [{ start: 0 }] }] }],
  ['audit-verification', 'verifyAudit', { calendars: [{ hour: [{ start: 18 }], minute: [{ start: 30 }] }] }],
  ['new-audit-entries', 'verifyNewAuditEntries', { intervals: [{ every: 300_000 }] }],
])('%s has a schedule on the task queue of the verifier', async (id, workflowType, wanted) => {
  const { spec, action } = await service.client.schedule.getHandle(id).describe();
  expect(spec).toMatchObject(wanted);
  expect(action).toMatchObject({ workflowType, taskQueue: VERIFIER_TASK_QUEUE });
});

it('workers that are away when a schedule starts a run do it once after they are back', async () => {
  await service.stopWorker();
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  // 07:00 and 00:30 WIB. As if Temporal had started it then; a second start is skipped while one runs.
  for (const [id, atMs] of [
    ['payouts', midnight],
    ['close-days', midnight - 6.5 * 3_600_000],
  ] as const) {
    const at = { start: new Date(atMs - 60_000), end: new Date(atMs + 60_000), overlap: 'SKIP' } as const;
    await service.client.schedule.getHandle(id).backfill([at, at]);
  }
  const before = (await readRuns('closing')).length;
  await service.startWorker();
  for (const [kind, count] of [
    ['payouts', 1],
    ['closing', before + 1],
  ] as const) {
    await eventually(
      () => readRuns(kind),
      (runs) => runs.length >= count && runs.every(({ is_complete }) => is_complete === true),
    );
    expect(await readRuns(kind)).toHaveLength(count);
  }
});
