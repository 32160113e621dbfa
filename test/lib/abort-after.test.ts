import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { abortAfter, whenAborted } from '../../src/lib/abort-after';
import { collectGarbage } from '../support/collect-garbage';

const HOUR_MS = 3_600_000;

/** Ends only if its signal aborts. */
const endlessWork = (signal: AbortSignal): Promise<void> => sleep(HOUR_MS, undefined, { signal });

it('aborts the work after the limit with a TimeoutError, also after a garbage collection', async () => {
  for (const signal of [undefined, new AbortController().signal]) {
    const result = abortAfter(300, signal, endlessWork);
    const failure = result.catch((error: unknown) => error);
    for (let times = 0; times < 5; times += 1) {
      await sleep(20);
      collectGarbage();
    }
    expect(await failure).toMatchObject({ cause: { name: 'TimeoutError' } });
  }
});

it('aborts the work if its caller aborts', async () => {
  const caller = new AbortController();
  const result = abortAfter(HOUR_MS, caller.signal, endlessWork);
  caller.abort(new Error('the caller ended'));
  await expect(result).rejects.toMatchObject({ cause: { message: 'the caller ended' } });
});

it('returns what the work returns, and throws what it throws', async () => {
  expect(await abortAfter(HOUR_MS, undefined, () => Promise.resolve('done'))).toBe('done');
  await expect(abortAfter(HOUR_MS, undefined, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

it('keeps nothing of work that has ended, also if it still waits for the signal', async () => {
  const caller = new AbortController();
  const left = new Set<number>();
  const registry = new FinalizationRegistry<number>((call) => left.delete(call));
  const run = async (call: number): Promise<void> => {
    const held = { bytes: new Uint8Array(1_000) };
    registry.register(held, call);
    left.add(call);
    await abortAfter(HOUR_MS, caller.signal, (signal) =>
      Promise.race([Promise.resolve(), whenAborted(signal).then(() => held)]),
    );
  };
  for (let calls = 0; calls < 50; calls += 1) await run(calls);
  for (let times = 0; times < 100 && left.size > 1; times += 1) {
    collectGarbage();
    await setImmediate();
  }
  // The stack may still refer to the last one.
  expect(left.size).toBeLessThanOrEqual(1);
});
