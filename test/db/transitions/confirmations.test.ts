import { storeNotification } from '../../../src/db/payments/notification-inbox';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import type { PaymentTerms } from '../../../src/domain/payment';
import { setRecorder } from '../../../src/observability/metrics';
import { createTestLedger, creation, type TestLedger } from '../../support/payments';

let ledger: TestLedger;
let causes: string[];
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());
beforeEach(() => {
  causes = [];
  const count = (name: string, cause: string | undefined) =>
    name === 'lunas_payments_confirmed_total' && causes.push(cause ?? '');
  setRecorder({ increment: (name, { cause }) => count(name, cause), observe: () => undefined });
});

const CREATED_AT_MS = Date.parse('2026-11-21T08:00:00.000Z');
const SOON = new Date(CREATED_AT_MS + 60_000);

async function issue(): Promise<PaymentTerms> {
  const terms = ledger.newTerms();
  await transitionWriters.create(ledger.context, creation(terms, new Date(CREATED_AT_MS)));
  const issued = { qrisPayload: '000201', providerTransactionId: 'tx-1' };
  await transitionWriters.issue(ledger.context, { paymentId: terms.paymentId, version: 1, at: SOON, ...issued });
  return terms;
}

function pay({ paymentId }: PaymentTerms, at = SOON) {
  return transitionWriters.pay(ledger.context, { paymentId, version: 2, at, paidAt: SOON });
}

async function notify({ providerAccountId, referenceId }: PaymentTerms, reportedStatus: 'paid' | 'pending' | null) {
  const rawBody = Buffer.from(`${referenceId} ${reportedStatus}`);
  await storeNotification(ledger.db, {
    accountId: providerAccountId,
    referenceId,
    reportedStatus,
    dedupeKey: reportedStatus,
    signed: reportedStatus,
    rawBody,
  });
}

it.each([
  ['notification', 'paid', 0],
  ['sweeper', 'paid', 2],
  ['query', 'pending', 0],
  ['query', null, 1],
] as const)('counts a %s: a notification of %s after %i attempts of the sweeper', async (cause, status, attempts) => {
  const terms = await issue();
  await notify(terms, status);
  await ledger.db.query('update provider_notifications set notify_attempts = $2 where reference_id = $1', [
    terms.referenceId,
    attempts,
  ]);
  await pay(terms);
  expect(causes).toEqual([cause]);
});

it('counts the query at the deadline, and a payment once', async () => {
  const terms = await issue();
  const deadline = new Date(CREATED_AT_MS + terms.expiresInSeconds * 1_000);
  await pay(terms, deadline);
  expect(await pay(terms, deadline)).toMatchObject({ outcome: 'repeated' });
  expect(causes).toEqual(['expiry']);
});
