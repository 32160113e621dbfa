import { setTimeout as sleep } from 'node:timers/promises';
import { runAll } from '../../src/local-stack/task-group';

const never = new AbortController().signal;

it('returns all results in order', async () => {
  const slow = sleep(50).then(() => 'slow');
  await expect(runAll(never, () => [slow, Promise.resolve(2)])).resolves.toEqual(['slow', 2]);
});

it('aborts the others on the first failure, and waits for their end', async () => {
  let cleanedUp = false;
  const running = runAll(never, (signal) => [
    Promise.reject(new Error('first')),
    sleep(60_000, undefined, { signal }).catch(async () => {
      await sleep(50);
      cleanedUp = true;
      throw new Error('second');
    }),
  ]);
  await expect(running).rejects.toThrow('first');
  expect(cleanedUp).toBe(true);
});

it('an abort aborts all tasks', async () => {
  const running = runAll(AbortSignal.timeout(50), (signal) => [
    sleep(60_000, undefined, { signal }),
    sleep(60_000, undefined, { signal }),
  ]);
  await expect(running).rejects.toThrow(/abort/i);
});
