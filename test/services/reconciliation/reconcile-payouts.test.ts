import { randomUUID } from 'node:crypto';
import { openException } from '../../../src/db/operations/open-exception';
import { ORPHANED_PAYOUT } from '../../../src/domain/reconciliation';
import { payoutWorkflowId } from '../../../workflows/ids';
import { asSuperuser } from '../../support/backdate';
import { eventually } from '../../support/eventually';
import { ORDINARY, preparePayoutsAtBank, type PayoutsAtBank } from '../../support/payouts-at-bank';
import { reconcile } from '../../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
let payouts: PayoutsAtBank;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  payouts = await preparePayoutsAtBank(service);
});
afterAll(() => service.close());

describe('reconciliation', () => {
  it('finds a return that the bank has sent no notification of', async () => {
    const payout = await payouts.requested(ORDINARY);
    await payouts.waitFor(payout, 'completed');
    await fetch(`${service.sandboxUrl}/simulator/transfers/${payout.referenceId}/return`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ notify: false }),
    });
    await reconcile(service);
    expect(await payouts.waitFor(payout, 'returned')).toMatchObject({
      names: ['request', 'approve', 'submit', 'complete', 'return'],
    });
  });

  it('reports a webhook of a payout whose retry workflow is lost', async () => {
    const payout = await payouts.requested(ORDINARY);
    await payouts.waitFor(payout, 'completed');
    const { db } = service;
    const endpointId = randomUUID();
    await db.query("insert into webhook_endpoints (id, merchant_id, url) values ($1, $2, 'http://127.0.0.1:9')", [
      endpointId,
      payout.merchantId,
    ]);
    await db.query(
      `insert into webhook_deliveries (id, payout_id, payout_version, endpoint_id, merchant_id, event, status,
         retry_workflow_started_at)
       select gen_random_uuid(), payout_id, payout_version, $2, $3, event, 'pending', now() - interval '1 hour'
       from payout_events where payout_id = $1 and event = 'payout.completed'`,
      [payout.payoutId, endpointId, payout.merchantId],
    );
    const { breaks } = await reconcile(service);
    expect(breaks.filter(({ referenceId }) => referenceId === payout.referenceId)).toMatchObject([
      { kind: 'missing', paymentId: payout.payoutId },
    ]);
    expect(await payouts.exceptionsOf(payout)).toEqual(['reconciliation']);
  });

  it('reports an open payout without a workflow, and starts the workflow', async () => {
    const payout = await payouts.requested('9900000020');
    await payouts.waitFor(payout, 'submitted');
    await payouts.workflowOf(payout).terminate();
    const age = `update payouts set updated_at = updated_at - interval '2 minutes' where id = '${payout.payoutId}'`;
    await asSuperuser(service.db, age);
    const breaksOf = async () =>
      (await reconcile(service)).breaks.filter(({ referenceId }) => referenceId === payout.referenceId);
    expect(await breaksOf()).toMatchObject([{ kind: 'missing', isResolvedByStatusQuery: true }]);
    await eventually(
      () => payouts.statusOf(payout),
      (status) => status?.status === 'submitted',
    );
    expect(await eventually(breaksOf, ({ length }) => length === 0)).toEqual([]);
  });

  it('closes the exception about a lost payout when PostgreSQL has it again', async () => {
    const { payoutId } = await payouts.requested('9900000020');
    const [found, lost] = [payoutWorkflowId(payoutId), payoutWorkflowId(randomUUID())];
    for (const referenceId of [found, lost]) {
      await openException(service.db, { kind: 'reconciliation', referenceId, detail: ORPHANED_PAYOUT.detail });
    }
    await reconcile(service);
    const { rows } = await service.db.query(
      'select reference_id from exceptions where reference_id = any ($1) and resolved_at is null',
      [[found, lost]],
    );
    expect(rows).toEqual([{ reference_id: lost }]);
  });
});
