import { setTimeout as sleep } from 'node:timers/promises';
import { tsToMs } from '@temporalio/common/lib/time';
import { startWorkerProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { ORDINARY, preparePayoutsAtBank, type PayoutsAtBank, type ShopPayout } from '../../support/payouts-at-bank';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const PENDING_AT_BANK = '9900000020';
const PAYOUTS = 6;
/**
 * For ten seconds after its end Temporal offers a query to the killed worker for a second. If the timer fires within
 * that second, the next worker receives the query with the event of the timer, and before the workflow task.
 */
const BEFORE_TIMER_MS = [900, 600, 300];

let service: TestService;
let payouts: PayoutsAtBank;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  payouts = await preparePayoutsAtBank(service);
  await service.stopWorker();
});
afterAll(() => service.close());

/** The last timer of the workflow. */
async function timerOf(payout: ShopPayout) {
  const { events } = await payouts.workflowOf(payout).fetchHistory();
  const started = events?.findLast(({ timerStartedEventAttributes: timer }) => timer);
  const duration = started?.timerStartedEventAttributes?.startToFireTimeout;
  return {
    endsAtMs: tsToMs(started?.eventTime ?? undefined) + tsToMs(duration ?? undefined),
    hasFired: events?.some(({ timerFiredEventAttributes: fired }) => fired?.startedEventId?.eq(started?.eventId ?? 0)),
  };
}

async function queryBeforeTimer(payout: ShopPayout, endsAtMs: number): Promise<void> {
  const queries = BEFORE_TIMER_MS.map(async (beforeMs) => {
    await sleep(endsAtMs - beforeMs - Date.now());
    return payouts.statusOf(payout);
  });
  await Promise.allSettled(queries);
}

it('a query that reaches another worker while a timer fires does not change what the workflow does', async () => {
  const killed = await startWorkerProcess(service);
  // A process that has just started is slow, and the first timer has 5 s.
  await payouts.waitFor(await payouts.requested(ORDINARY), 'completed');
  const submitted = await Promise.all(Array.from({ length: PAYOUTS }, () => payouts.newShop(PENDING_AT_BANK)));
  await Promise.all(submitted.map((payout) => payouts.request(payout)));
  await Promise.all(submitted.map((payout) => payouts.waitFor(payout, 'submitted')));
  const timers = await Promise.all(submitted.map(timerOf));
  killed.signal('SIGKILL');
  await service.startWorker();
  await Promise.all(submitted.map((payout, index) => queryBeforeTimer(payout, timers[index]?.endsAtMs ?? 0)));
  const next = (payout: ShopPayout) =>
    eventually(
      () => timerOf(payout),
      ({ endsAtMs, hasFired }) => hasFired === false && endsAtMs > Date.now(),
    );
  await Promise.all(submitted.map(next));

  // The next worker replays the whole histories. For one that does something else there is no response.
  await service.stopWorker();
  await service.startWorker();
  const status = (payout: ShopPayout) =>
    eventually(
      () => payouts.statusOf(payout).catch(() => undefined),
      (found) => found !== undefined,
    );
  expect(await Promise.all(submitted.map(status))).toEqual(
    Array(PAYOUTS).fill(expect.objectContaining({ status: 'submitted' })),
  );
  await killed.stop();
});
