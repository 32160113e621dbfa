import { checkRandomHistories } from './random-histories';

it('100 random histories: lines are the ledger and days add up, also after the archive', async () => {
  await checkRandomHistories(100);
}, 300_000);
