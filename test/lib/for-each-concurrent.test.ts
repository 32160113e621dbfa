import { setImmediate as nextTurn } from 'node:timers/promises';
import { forEachConcurrent } from '../../src/lib/for-each-concurrent';

it('fails with the first failure, and only once no item is being processed any more', async () => {
  const ended: number[] = [];
  const failing = forEachConcurrent([1, 2, 3], 2, async (item) => {
    if (item === 1) throw new Error('the first');
    await nextTurn();
    ended.push(item);
  });
  await expect(failing).rejects.toThrow('the first');
  expect(ended).toEqual([2, 3]);
});
