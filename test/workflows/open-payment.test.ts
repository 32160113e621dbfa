import { MockActivityEnvironment } from '@temporalio/testing';
import { openPayment } from '../../activities/payment';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { readState } from '../../src/db/transitions/payment-state';
import { activityDependencies } from '../support/activity-dependencies';
import { creation, createTestLedger, type TestLedger } from '../support/payments';
import { FakeAcquirer } from './model/fake-acquirer';

const AT = new Date('2026-11-21T10:00:00Z');

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

/** A repeated attempt finds this order at the acquirer, from an earlier attempt. */
async function openAgain({
  orderRupiah,
}: {
  orderRupiah: number;
}): Promise<{ paymentId: string; opened: Promise<unknown> }> {
  const terms = ledger.newTerms();
  const acquirer = new FakeAcquirer();
  const { referenceId, paymentId } = terms;
  await acquirer.issueQris({ provider: 'gopay', referenceId, totalRupiah: orderRupiah, createdAt: AT, expiresAt: AT });
  await transitionWriters.create(ledger.context, creation(terms, AT));
  const dependencies = activityDependencies(ledger.context, acquirer);
  const state = { status: 'created', version: 0 } as const;
  const step = { terms, state, atMs: AT.getTime(), createdAtMs: AT.getTime() };
  return { paymentId, opened: new MockActivityEnvironment().run(openPayment.bind(null, dependencies), step) };
}

it('adopts the order of an earlier attempt', async () => {
  const { paymentId, opened } = await openAgain({ orderRupiah: 50_000 });
  await opened;
  expect(await readState(ledger.db, paymentId)).toMatchObject({ status: 'pending' });
});

it('rejects an order of an earlier attempt over another amount', async () => {
  const { paymentId, opened } = await openAgain({ orderRupiah: 5_000 });
  await expect(opened).rejects.toThrow(/the order over Rp.5\.000 instead of Rp.50\.000/);
  expect(await readState(ledger.db, paymentId)).toMatchObject({ status: 'created' });
});
