import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { changeMerchant } from '../../../src/services/merchants/merchants';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { IN_FORCE_AFTER_MS } from '../../support/api';
import { createPayment, statusOf } from '../../support/created-payment';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

const gopay = { provider: 'gopay', channel: 'qris' } as const;

async function rowOf(id: string) {
  const { rows } = await service.db.query(
    `select fee_rupiah, net_rupiah, total_rupiah, fee_payer, payments.settlement_kind, policies.version as policy,
       extract(epoch from expires_at - date_trunc('second', payments.created_at))::integer as seconds, payments.status
     from payments join policies on policies.id = policy_id where payments.id = $1`,
    [id],
  );
  return rows[0];
}

it('a payment uses its captured terms up to the last posting, although catalog and merchant change', async () => {
  const first = await setPolicy(service.db, {
    ...gopay,
    feeBasisPoints: 70,
    feeFlatRupiah: 0,
    settlementKind: 'automatic',
    settlementDelaySeconds: 2,
    expiresInSeconds: 600,
  });
  const before = await createPayment(service);
  const second = await setPolicy(service.db, {
    ...gopay,
    feeBasisPoints: 200,
    feeFlatRupiah: 1_000,
    settlementKind: 'manual',
    settlementDelaySeconds: 0,
    expiresInSeconds: 60,
  });
  await changeMerchant(service.db, service.merchantId, { feePayer: 'buyer' });
  await sleep(IN_FORCE_AFTER_MS);
  const after = await createPayment(service);
  for (const { reference_id } of [before, after]) await service.pay(reference_id);

  await eventually(
    async () => [await statusOf(service, before.id), await statusOf(service, after.id)],
    ([old, now]) => old === 'settled' && now === 'paid',
  );
  expect(await rowOf(before.id)).toMatchObject({
    fee_rupiah: 350,
    net_rupiah: 49_650,
    total_rupiah: 50_000,
    fee_payer: 'merchant',
    settlement_kind: 'automatic',
    policy: first.version,
  });
  expect(await rowOf(after.id)).toMatchObject({
    fee_rupiah: 2_000,
    net_rupiah: 50_000,
    total_rupiah: 52_000,
    fee_payer: 'buyer',
    settlement_kind: 'manual',
    policy: second.version,
  });
  expect((await rowOf(before.id)).seconds).toBeGreaterThanOrEqual(600);
  expect((await rowOf(after.id)).seconds).toBeLessThan(70);

  const { balances, breaks } = await verifyLedger(service.db);
  expect(breaks).toEqual([]);
  expect(Object.fromEntries(balances.map(({ account, balanceRupiah }) => [account, balanceRupiah]))).toEqual({
    provider_receivable: 102_000,
    merchant_pending: -50_000,
    merchant_available: -49_650,
    fee_revenue: -2_350,
  });
});

it('a payment with its own time ends in the same second here and at the provider, whatever the policy', async () => {
  const seconds = fc.integer({ min: 60, max: 86_400 });
  await fc.assert(
    fc.asyncProperty(seconds, seconds, async (expires_in, expiresInSeconds) => {
      await setPolicy(service.db, { ...gopay, expiresInSeconds });
      const { body } = await service.call('POST', '/payments', { amount: 50_000, provider: 'gopay', expires_in });
      const { reference_id, created_at, expires_at } = body.payment;
      await setPolicy(service.db, { ...gopay, expiresInSeconds: 60 });
      expect(Date.parse(expires_at) - Math.ceil(Date.parse(created_at) / 1_000) * 1_000).toBe(expires_in * 1_000);
      const { rows } = await service.providerDb.query('select expires_at from payments where order_id = $1', [
        reference_id,
      ]);
      expect(rows).toEqual([{ expires_at: new Date(expires_at) }]);
    }),
    { numRuns: bySize({ small: 1, full: 20 }) },
  );
});

it('no column can store a fraction of a rupiah', async () => {
  const { rows } = await service.db.query<{ column: string; type: string }>(
    `select table_name || '.' || column_name as column, data_type as type from information_schema.columns
     where table_schema = 'public'
       and (column_name like '%rupiah%' or data_type in ('real', 'double precision', 'numeric'))`,
  );
  expect(rows.length).toBeGreaterThan(8);
  expect(rows.filter(({ type }) => type !== 'bigint')).toEqual([]);
});
