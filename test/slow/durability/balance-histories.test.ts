import { checkRandomHistories } from '../../services/payouts/random-histories';

it('1,000 random histories: lines are the ledger and days add up, also after the archive', async () => {
  expect(await checkRandomHistories(1_000)).toEqual({ compared: 1_000 });
}, 1_200_000);
