import { RequestDeadline } from '../../src/api/request-deadline';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('gives ten seconds to all that an answer waits for, however long its request was on its way', async () => {
  const time = new RequestDeadline();
  const first = time.race(new Promise((resolve) => setTimeout(resolve, 4_000, 'known')));
  await jest.advanceTimersByTimeAsync(4_000);
  expect(await first).toBe('known');
  await jest.advanceTimersByTimeAsync(60_000);

  let outcome = 'waits';
  const second = time.race(new Promise(() => {})).catch((error: Error) => (outcome = error.message));
  await jest.advanceTimersByTimeAsync(5_999);
  expect(outcome).toBe('waits');
  await jest.advanceTimersByTimeAsync(1);
  await second;
  expect(outcome).toBe('There was no answer within 10000 ms');
});
