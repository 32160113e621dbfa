import { noteOrder, readRejectedMerchants } from '../../../src/providers/calls/rejected-merchants';

const order = (merchantId: string, providerAccountId = 'account-a') => ({ providerAccountId, merchantId });

async function counts(): Promise<Record<string, number>> {
  const samples = await readRejectedMerchants();
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(), value]));
}

it('counts the merchants whose orders an account has rejected since it accepted one', async () => {
  for (const merchantId of ['one', 'one', 'two']) noteOrder(order(merchantId), 'rejected');
  noteOrder(order('one', 'account-b'), 'rejected');
  expect(await counts()).toEqual({ 'account-a': 2, 'account-b': 1 });
  noteOrder(order('three'), 'accepted');
  expect(await counts()).toEqual({ 'account-a': 0, 'account-b': 1 });
  for (let merchant = 0; merchant < 150; merchant += 1) noteOrder(order(`merchant ${merchant}`), 'rejected');
  expect(await counts()).toMatchObject({ 'account-a': 100 });
});
