import { MockActivityEnvironment } from '@temporalio/testing';
import { failPayment, failUnissuedPayment, openPayment } from '../../activities/payment';
import { findCreationResult } from '../../src/db/payments/find-creation-result';
import { readState } from '../../src/db/transitions/payment-state';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { activityDependencies } from '../support/activity-dependencies';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
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

it('fails the creation by an order of an earlier attempt over another amount, which cannot become valid', async () => {
  const { paymentId, opened } = await openAgain({ orderRupiah: 5_000 });
  const reason = 'the provider issued no usable QR code';
  expect(await opened).toMatchObject({ creation: { outcome: 'rejected', reason } });
  expect(await readState(ledger.db, paymentId)).toMatchObject({ status: 'failed' });
});

/** The merchant has the result of the creation; PostgreSQL lost it in a fail-over, and the workflow still has it. */
describe('a lost transition of the creation', () => {
  async function lose(behave: (acquirer: FakeAcquirer, referenceId: string) => void) {
    const terms = ledger.newTerms();
    const acquirer = new FakeAcquirer();
    const { referenceId, paymentId, totalRupiah } = terms;
    const issued = await acquirer.issueQris({
      provider: 'gopay',
      referenceId,
      totalRupiah,
      createdAt: AT,
      expiresAt: AT,
    });
    if (issued.outcome !== 'accepted') throw new Error('The acquirer accepts orders');
    acquirer.behaviourOf(referenceId).repeatsQris = false;
    behave(acquirer, referenceId);
    await transitionWriters.create(ledger.context, creation(terms, AT));
    const state = { status: 'created', version: 1 } as const;
    const issuedCreation = { atMs: AT.getTime(), ...issued, outcome: 'issued' } as const;
    const step = { terms, state, atMs: AT.getTime() + 60_000, createdAtMs: AT.getTime(), creation: issuedCreation };
    return {
      paymentId,
      step,
      dependencies: activityDependencies(ledger.context, acquirer),
      payload: issued.qrisPayload,
    };
  }

  it.each([
    ['openPayment, unpaid', openPayment, () => undefined],
    ['openPayment, paid', openPayment, (acquirer: FakeAcquirer, reference: string) => acquirer.pay(reference)],
    ['failUnissuedPayment, unpaid', failUnissuedPayment, () => undefined],
    [
      'failUnissuedPayment, paid',
      failUnissuedPayment,
      (acquirer: FakeAcquirer, reference: string) => acquirer.pay(reference),
    ],
  ])('%s: is recorded again, with the QR that the merchant has', async (_name, activity, behave) => {
    const { paymentId, step, dependencies, payload } = await lose(behave);
    await new MockActivityEnvironment().run(activity.bind(null, dependencies), step);
    expect(await readState(ledger.db, paymentId)).toMatchObject({ status: 'pending', version: 2 });
    expect(await findCreationResult(ledger.db, paymentId)).toMatchObject({ outcome: 'issued', qrisPayload: payload });
  });

  it('a rejected creation stays rejected, although the provider would accept it now', async () => {
    const { paymentId, step, dependencies } = await lose((acquirer, reference) => acquirer.removeOrder(reference));
    const creation = { outcome: 'rejected', atMs: AT.getTime(), reason: 'over the limit of the account' } as const;
    await new MockActivityEnvironment().run(openPayment.bind(null, dependencies), { ...step, creation });
    expect(await findCreationResult(ledger.db, paymentId)).toMatchObject({ reason: 'over the limit of the account' });
    expect(await readState(ledger.db, paymentId)).toMatchObject({ status: 'failed' });
  });
});

it('an operator fails a payment in `created`, although the workflow does not know its version yet', async () => {
  const terms = ledger.newTerms();
  await transitionWriters.create(ledger.context, creation(terms, AT));
  const state = { status: 'created', version: 0 } as const;
  const step = { terms, state, atMs: AT.getTime(), createdAtMs: AT.getTime() };
  const fail = failPayment.bind(null, activityDependencies(ledger.context, new FakeAcquirer()));
  expect(await new MockActivityEnvironment().run(fail, step)).toMatchObject({ state: { status: 'failed' } });
});
