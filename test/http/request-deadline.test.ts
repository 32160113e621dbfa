import { RequestDeadline } from '../../src/http/request-deadline';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('limits the work on a response to 10 s, without the time in which the request arrives', async () => {
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
  expect(outcome).toBe('No response after 10000 ms');
});
