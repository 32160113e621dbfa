import { createSealer } from '../../src/crypto/sealing';
import { createPool } from '../../src/db/connection/pool';
import type { ProviderCall } from '../../src/domain/provider-call';
import { createPayoutRegistry } from '../../src/providers/payout-registry';
import { addPayoutsAccount } from '../../src/services/provider-accounts/payouts-account';
import { issuedTo, newPayoutReference, openBank } from '../sandbox/bank/bank-under-test';
import { SILENT } from '../support/collect-log';
import { createTestDatabase } from '../support/database';
import { newMasterKey } from '../support/service';

const SLOTS = 3;

it('status queries that hang take the slots of the account, and a permitted payout is sent nevertheless', async () => {
  const [bank, database] = await Promise.all([openBank(), createTestDatabase()]);
  const db = createPool(database.url, { max: 2 });
  const sealer = createSealer(newMasterKey());
  const registry = createPayoutRegistry({ db, sealer, log: SILENT, slotsPerAccount: SLOTS });
  const merchant = await bank.register('midtrans');
  const { id } = await addPayoutsAccount(db, sealer, {
    adapter: 'snap-midtrans',
    baseUrl: merchant.baseUrl,
    credentials: JSON.stringify(issuedTo(merchant)),
    environment: 'sandbox',
    isProposed: false,
  });
  const payoutsAccount = await registry.findAccount(id);
  if (!payoutsAccount) throw new Error('The account is not registered');
  const { provider } = payoutsAccount;
  const over = new AbortController();
  const call: ProviderCall = { signal: over.signal, deadlineAtMs: Date.now() + 60_000 };
  const find = () => provider.findPayout({ referenceId: newPayoutReference(), bankReference: null, submittedAt }, call);
  const submittedAt = new Date();

  expect(await find()).toEqual({ outcome: 'not_found' });
  await bank.fail('transfer_status', 'timeout', SLOTS + 1);
  const hanging = Array.from({ length: SLOTS }, find);
  const noSlot = { outcome: 'indeterminate', reason: 'too many calls to the provider account are in flight' };
  expect(await find()).toEqual(noSlot);
  const referenceId = newPayoutReference();
  const account = { bankCode: '014', number: '1234567890' };
  const order = { referenceId, sendNumber: 1, amountRupiah: 250_000, account, holderName: 'TOKO', submittedAt };
  expect(await provider.sendPayout(order, call)).toMatchObject({ outcome: 'accepted' });
  expect(await bank.findTransfer(referenceId)).toMatchObject({ amount_rupiah: 250_000 });

  over.abort();
  const ended = await Promise.all(hanging);
  expect(ended.map(({ outcome }) => outcome)).toEqual(Array(SLOTS).fill('indeterminate'));
  await registry.close();
  await db.end();
  await Promise.all([bank.sandbox.close(), database.drop()]);
});
