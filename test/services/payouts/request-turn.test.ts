import { randomUUID } from 'node:crypto';
import type { Pool } from '../../../src/db/connection/pool';
import { takeTurn } from '../../../src/services/payouts/request-turn';
import type { PayoutClient } from '../../../src/temporal/payout-client';
import { createTestLedger, type TestLedger } from '../../support/payments';

type Request = Awaited<ReturnType<PayoutClient['findRequest']>>;

let ledger: TestLedger;
let db: Pool;
const first = randomUUID();

beforeEach(async () => {
  ledger = await createTestLedger();
  ({ db } = ledger);
  await take(first);
});
afterEach(() => ledger.close());

/** @param request how far Temporal has the request of the first payout; another one is undecided */
const take = (payoutId: string, request: Request = 'none') =>
  takeTurn(
    { db, workflows: { findRequest: (id) => Promise.resolve(id === first ? request : 'undecided') } },
    { merchantId: ledger.merchantId, payoutId },
  );
const passSeconds = (seconds: number) =>
  db.query("update payout_request_turns set taken_at = taken_at - $1 * interval '1 second'", [seconds]);

it('a payout keeps its turn: the same form may be sent again', async () => {
  for (const request of ['none', 'undecided', 'decided'] as const) expect(await take(first, request)).toBe(true);
});

it('another payout gets the turn when the request is decided, and not before', async () => {
  expect(await take(randomUUID(), 'undecided')).toBe(false);
  expect(await take(randomUUID(), 'decided')).toBe(true);
});

it('a start that was called may reach Temporal for a while, so the turn is not free', async () => {
  expect(await take(randomUUID(), 'none')).toBe(false);
  await passSeconds(31);
  expect(await take(randomUUID(), 'none')).toBe(true);
});

it('an undecided request keeps the turn for as long as it takes', async () => {
  await passSeconds(86_400);
  expect(await take(randomUUID(), 'undecided')).toBe(false);
});

it('one of several that see the same decided request gets the turn', async () => {
  const taken = await Promise.all(Array.from({ length: 8 }, () => take(randomUUID(), 'decided')));
  expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
});
