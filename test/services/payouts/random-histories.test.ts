import { checkRandomHistories } from './random-histories';

it('100 random histories: lines are the ledger and days add up, also after the archive', async () => {
  expect(await checkRandomHistories(100)).toEqual({ compared: 100 });
}, 300_000);
