import { renderPayment } from '../../../src/cli/render-payment';
import type { PaymentStatus } from '../../../src/domain/payment-transitions';
import { createLogger } from '../../../src/observability/logger';
import { showPayment } from '../../../src/services/payments/show-payment';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { CHECK_INTERVAL_MS, LostWorkflows } from '../../../src/services/recovery/lost-workflows';
import { restartIfLost } from '../../../src/services/recovery/restart-payment';
import { WorkflowRecords } from '../../../src/temporal/workflow-records';
import { paymentWorkflowId } from '../../../workflows/ids';
import { asSuperuser } from '../../support/backdate';
import { collectLog } from '../../support/collect-log';
import { statusOf } from '../../support/created-payment';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';

/** A stranger, or an operator in the Web UI, ends a payment's workflow. What happens to the payment finds it. */

const RESTARTED_WITHIN_MS = 60_000;
const collected = collectLog();

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 3_600, log: collected.log });
});
afterAll(() => service.close());
afterEach(() => jest.restoreAllMocks());

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function create(expiresInSeconds = 900): Promise<Created> {
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds, settlementDelaySeconds: 900 });
  return (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
}

const workflowOf = ({ id }: Created) => service.client.workflow.getHandle(paymentWorkflowId(id));

async function terminate(payment: Created): Promise<string> {
  await workflowOf(payment).terminate('by hand');
  return (await workflowOf(payment).describe()).runId;
}

async function deleteWorkflow(payment: Created): Promise<void> {
  const { namespace } = service.client.options;
  const workflowExecution = { workflowId: paymentWorkflowId(payment.id) };
  await service.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution });
  await eventually(
    () => service.workflows.records.describe(payment.id),
    (record) => record === null,
  );
}

async function reaches(payment: Created, status: PaymentStatus): Promise<void> {
  const isReached = (now: string | undefined) => now === status;
  expect(await eventually(() => statusOf(service, payment.id), isReached, RESTARTED_WITHIN_MS)).toBe(status);
}

async function pay(payment: Created): Promise<void> {
  await service.pay(payment.reference_id);
  await reaches(payment, 'paid');
}

const pageOf = async ({ id }: Created): Promise<string> =>
  (await service.call('GET', `/payments/${id}/qris`)).body.qris.checkout_url;

describe('a notification', () => {
  it('a notification of a payment whose workflow was terminated: it becomes paid, once', async () => {
    const payment = await create();
    await terminate(payment);
    await pay(payment);
    expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'pay']);
    expect(collected.text()).toContain('lost workflow started again');
    await reports(payment, 'paid');
  });

  it('a notification of a payment whose workflow was deleted: it becomes paid', async () => {
    const payment = await create();
    await deleteWorkflow(payment);
    await pay(payment);
    expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'pay']);
    await reports(payment, 'paid');
  });

  it('a notification of a final payment starts only the workflow of its late payment', async () => {
    const payment = await create();
    await service.call('POST', `/payments/${payment.id}/cancel`);
    await reaches(payment, 'cancelled');
    await workflowOf(payment).result();
    const { runId } = await workflowOf(payment).describe();
    await service.providerDb.query(`update payments set status = 'pending' where order_id = $1`, [
      payment.reference_id,
    ]);
    await service.pay(payment.reference_id);
    await eventually(
      () => service.db.query('select from late_payments where payment_id = $1', [payment.id]),
      ({ rowCount }) => rowCount === 1,
    );
    expect((await workflowOf(payment).describe()).runId).toBe(runId);
  });
});

/** The result of the query, from the running workflow. */
async function reports(payment: Created, status: PaymentStatus): Promise<void> {
  await eventually(
    () => service.workflows.queryStatus(payment.id),
    (report) => report?.status === status,
  );
}

describe("a merchant's request", () => {
  it('cancels a payment whose workflow was terminated', async () => {
    const payment = await create();
    await terminate(payment);
    const { status, body } = await service.call('POST', `/payments/${payment.id}/cancel`);
    expect([status, body.payment?.status]).toEqual([200, 'cancelled']);
  });

  it('refunds a payment whose workflow was deleted', async () => {
    const payment = await create();
    await pay(payment);
    await deleteWorkflow(payment);
    const { status, body } = await service.call('POST', `/payments/${payment.id}/refund`);
    expect([status, body.payment?.status]).toEqual([200, 'refund_processing']);
  });

  it('reads a payment that should have expired: it expires', async () => {
    const payment = await create(5);
    await terminate(payment);
    await reaches(payment, 'expired');
    expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'expire']);
  });

  it('repeats a create whose workflow was terminated before the provider responded', async () => {
    const request = () => service.call('POST', '/payments', { amount: 50_000 }, { 'idempotency-key': 'lost' });
    await service.injectFault('charge', 'http_500', 1_000);
    const first = request();
    const created = await eventually(
      async () => (await service.db.query("select id, reference_id from payments where status = 'created'")).rows[0],
      (row) => row !== undefined,
    );
    await terminate(created);
    expect((await first).status).toBe(500);
    await service.clearFaults();
    const { body } = await eventually(request, ({ status }) => status === 201, RESTARTED_WITHIN_MS);
    expect(body.payment).toMatchObject({ id: created.id, status: 'pending' });
    expect(await service.transitionsOf(created.id)).toEqual(['create', 'issue']);
  });

  it("a merchant's request for a final payment is rejected as before, and starts nothing", async () => {
    const payment = await create();
    await service.call('POST', `/payments/${payment.id}/cancel`);
    await workflowOf(payment).result();
    const { runId } = await workflowOf(payment).describe();
    expect((await service.call('POST', `/payments/${payment.id}/cancel`)).status).toBe(400);
    expect(await restartIfLost(service, payment.id)).toBe('not_open');
    expect((await workflowOf(payment).describe()).runId).toBe(runId);
  });
});

describe('the checkout page', () => {
  it('a payment whose page is read after the deadline expires', async () => {
    const payment = await create(5);
    const url = await pageOf(payment);
    await terminate(payment);
    const readPage = async () => (await fetch(url, { headers: { 'accept-language': 'en' } })).text();
    await eventually(readPage, (html) => html.includes('<h1>Payment expired</h1>'), RESTARTED_WITHIN_MS);
    expect(await statusOf(service, payment.id)).toBe('expired');
  });

  it('a payment whose page stays open after the deadline expires, and the page gets the event', async () => {
    const payment = await create(5);
    const url = await pageOf(payment);
    await terminate(payment);
    const { rows } = await service.db.query('select version from payments where id = $1', [payment.id]);
    const response = await fetch(`${url}/events?seen=${rows[0].version}`, {
      signal: AbortSignal.timeout(RESTARTED_WITHIN_MS),
    });
    const decoder = new TextDecoder();
    let received = '';
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk);
      if (received.includes('"expired"')) break;
    }
    expect(received).toContain('"status":"expired"');
  });

  it('costs one read of Temporal in half a minute, and none for a final payment or an unknown one', async () => {
    const payment = await create();
    const url = await pageOf(payment);
    const describes = jest.spyOn(WorkflowRecords.prototype, 'describe');
    const readsOf = ({ id }: Created) => describes.mock.calls.filter(([paymentId]) => paymentId === id).length;
    for (let views = 0; views < 20; views += 1) await fetch(url);
    expect(readsOf(payment)).toBe(1);

    const final = await create();
    const finalUrl = await pageOf(final);
    await service.call('POST', `/payments/${final.id}/cancel`);
    await fetch(finalUrl);
    // As the archive leaves it: the page of the payment has no row.
    await fetch(url.replace(/.{43}$/, 'A'.repeat(43)));
    expect(readsOf(final)).toBe(0);
    expect(describes).toHaveBeenCalledTimes(1);
  });

  it('checks later and later if the workflow is lost each time, and as before once it runs', async () => {
    const payment = await create();
    const log = createLogger('test', 'silent');
    const clock = { nowMs: 0 };
    const lost = new LostWorkflows({ db: service.db, workflows: service.workflows, log }, () => clock.nowMs);
    const describes = jest.spyOn(WorkflowRecords.prototype, 'describe');
    /** The instants, in intervals, at which a view of the page in each interval made a check. */
    const checksIn = async (intervals: number, before: () => Promise<unknown>): Promise<number[]> => {
      const checkedAt: number[] = [];
      for (let interval = 0; interval < intervals; interval += 1, clock.nowMs += CHECK_INTERVAL_MS) {
        await before();
        describes.mockClear();
        lost.check({ id: payment.id, status: 'pending' });
        await lost.stop();
        if (describes.mock.calls.length > 0) checkedAt.push(interval);
      }
      return checkedAt;
    };
    const loseAgain = () =>
      workflowOf(payment)
        .terminate()
        .catch(() => undefined);
    expect(await checksIn(8, loseAgain)).toEqual([0, 2, 6]);
    clock.nowMs += 100 * CHECK_INTERVAL_MS;
    await restartIfLost(service, payment.id);
    expect(await checksIn(3, () => Promise.resolve())).toEqual([0, 1, 2]);
  });
});

describe('restartIfLost', () => {
  const restart = ({ id }: Created) => restartIfLost(service, id);

  it('starts one workflow for ten concurrent callers, and none while it runs', async () => {
    const payment = await create();
    const runId = (await workflowOf(payment).describe()).runId;
    expect(await restart(payment)).toBe('running');
    expect((await workflowOf(payment).describe()).runId).toBe(runId);
    await terminate(payment);
    await Promise.all(Array.from({ length: 10 }, () => restart(payment)));
    const runs: string[] = [];
    await eventually(
      async () => {
        runs.length = 0;
        const query = `WorkflowId = '${paymentWorkflowId(payment.id)}'`;
        for await (const run of service.client.workflow.list({ query })) runs.push(run.runId);
        return runs.length;
      },
      (count) => count >= 2,
    );
    expect(runs).toHaveLength(2);
  });

  it('leaves a payment to `lunas recover` if PostgreSQL is behind the workflow that was lost', async () => {
    const payment = await create();
    await pay(payment);
    await reports(payment, 'paid');
    await eventually(
      async () => (await service.workflows.records.describe(payment.id))?.status,
      (status) => status === 'paid',
    );
    const runId = await terminate(payment);
    await asSuperuser(
      service.db,
      `update payments set status = 'created', qris_payload = null, paid_at = null, settlement_due_at = null
       where id = '${payment.id}'`,
    );
    await expect(restart(payment)).rejects.toMatchObject({ reason: 'record_behind_workflow' });
    expect((await workflowOf(payment).describe()).runId).toBe(runId);
  });
});

describe('`payments show`', () => {
  const shown = async ({ id }: Created) => {
    const details = await showPayment(service.db, (paymentId) => service.workflows.readRun(paymentId), id);
    return { details, text: renderPayment(details) };
  };

  it('prints when the workflow was terminated, and not the status in which it ended', async () => {
    const payment = await create();
    await reports(payment, 'pending');
    expect((await shown(payment)).text).toMatch(/^Workflow\n  Status +pending, version 2$/m);
    await terminate(payment);
    const { details, text } = await shown(payment);
    expect(details.workflow).toEqual({ state: 'terminated', closedAt: expect.any(Date) });
    expect(text).toMatch(/^Workflow  terminated \d+ s ago$/m);
    expect(text).not.toContain('Waiting for');
    const since = String.raw`since \S+Z \(\d+ s\)`;
    expect(text).toMatch(
      new RegExp(
        String.raw`^LN\w+ \(pending\) waits for a recovery .* ${since}, because its workflow is terminated\.\n`,
      ),
    );
  });

  it('begins with what the payment waits for, since when and why', async () => {
    const payment = await create();
    await reports(payment, 'pending');
    const { reference_id } = payment;
    const pending = 'waits for the customer to pay Rp 50\\.000 \\(until \\S+Z\\) since \\S+Z \\(\\d+ s\\)';
    const issued = 'because the provider issued the QR code\\.';
    expect((await shown(payment)).text).toMatch(new RegExp(`^${reference_id} \\(pending\\) ${pending}, ${issued}\n`));
    await service.call('POST', `/payments/${payment.id}/cancel`);
    await workflowOf(payment).result();
    expect((await shown(payment)).text).toMatch(
      /^LN\w+ \(cancelled\) waits for nothing since .* this status is final\.\n/,
    );
  });

  it('prints the last failure of a step that Temporal repeats, and its next attempt', async () => {
    await service.injectFault('charge', 'http_500', 1_000);
    const order = { amount: 50_000, merchant_reference_id: 'repeated' };
    const responded = service.call('POST', '/payments', order);
    const isRepeated = ({ text }: { text: string }) => /Next attempt +\d{4}-/.test(text);
    const created = await eventually(
      async () => (await service.db.query("select id from payments where merchant_reference_id = 'repeated'")).rows[0],
      (row) => row !== undefined,
    );
    const { details, text } = await eventually(() => shown(created), isRepeated);
    await service.clearFaults();
    await responded;
    expect(details.workflow).toMatchObject({ state: 'running', retriedStep: { activity: 'openPayment' } });
    expect(text).toMatch(
      /^LN\w+ \(created\) waits for .*, because attempt \d+ of openPayment failed: .*500 Sorry.*\.\n/,
    );
    expect(text).toMatch(/^ +Last failure +openPayment, attempt \d+: .*500 Sorry/m);
  });

  it('prints that there is none', async () => {
    const payment = await create();
    await deleteWorkflow(payment);
    expect((await shown(payment)).text).toMatch(/^Workflow  none$/m);
  });
});
