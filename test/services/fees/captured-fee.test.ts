import { requireRecordedTerms } from '../../../activities/verify-terms';
import { findTerms } from '../../../src/db/payments/find-terms';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { creationIn } from '../../../src/temporal/creation-history';
import { paymentWorkflowId } from '../../../workflows/ids';
import { eventually } from '../../support/eventually';
import { plantPrice, plantSchedule, putIdentityInForce } from '../../support/fee-rates';
import { newNamespace, startTestService, type TestService } from '../../support/service';

/* A payment keeps the rate of its creation. */

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 1 });
  await putIdentityInForce(service.db, service.merchantId, 'UMI');
});
afterAll(() => service.close());

const UMI = {
  class: 'UMI',
  validFrom: '2025-01-01',
  bands: [
    [0, 0],
    [500_001, 30],
  ],
} as const;

const VAT = { class: 'VAT', validFrom: '2025-01-01', bands: [[0, 1_100]] } as const;

const create = (amount: number, key: string) =>
  service.call('POST', '/payments', { amount }, { 'idempotency-key': key });

async function rowOf(id: string) {
  const { rows } = await service.db.query(
    'select fee_terms as terms, fee_rupiah as fee, vat_rupiah as vat, status from payments where id = $1',
    [id],
  );
  return rows[0];
}

it('later rates, agreements and identities change no payment, up to its last posting', async () => {
  await plantSchedule(service.db, { ...UMI, version: 90 });
  await plantSchedule(service.db, { ...VAT, version: 90 });
  const first = await create(1_000_000, 'first');
  expect(first).toMatchObject({ status: 201, body: { payment: { fee_amount: 3_000, net_amount: 997_000 } } });
  const { id, reference_id: referenceId } = first.body.payment;
  const rate = { source: 'class', class: 'UMI', basisPoints: 30, flatRupiah: 0, validFrom: UMI.validFrom };
  const terms = { ...rate, vatBasisPoints: 1_100 };
  expect((await rowOf(id)).terms).toEqual(terms);

  const expanded = await service.call('GET', `/payments/${id}?expand=fee`);
  expect(expanded.body.payment.fee).toEqual({
    amount: 3_000,
    vat_amount: 297,
    source: 'class',
    class: 'UMI',
    basis_points: 30,
    flat_amount: 0,
  });

  await plantSchedule(service.db, { ...UMI, version: 91, bands: [[0, 500]] });
  await plantSchedule(service.db, { ...VAT, version: 91, bands: [[0, 0]] });
  await plantPrice(service.db, {
    merchant: service.merchantId,
    version: 1,
    validFrom: '2025-01-01',
    price: [10, 0],
  });
  await putIdentityInForce(service.db, service.merchantId, 'education');
  const repeated = await create(1_000_000, 'first');
  expect(repeated.body.payment).toMatchObject({ id, fee_amount: 3_000 });
  const next = await create(1_000_000, 'next');
  expect(next.body.payment).toMatchObject({ fee_amount: 1_000 });
  expect((await rowOf(next.body.payment.id)).terms).toMatchObject({ source: 'agreed', class: 'education' });

  await service.pay(referenceId);
  await eventually(
    () => rowOf(id),
    ({ status }) => status === 'settled',
  );
  expect(await rowOf(id)).toEqual({ terms, fee: 3_000, vat: 297, status: 'settled' });
  const { balances, breaks } = await verifyLedger(service.db);
  expect(breaks).toEqual([]);
  expect(balances).toContainEqual(expect.objectContaining({ account: 'fee_revenue', balanceRupiah: -2_703 }));
  expect(balances).toContainEqual(expect.objectContaining({ account: 'vat_payable', balanceRupiah: -297 }));
});

it('a payment of Rp 1 of a merchant with a class works, alone and in a bulk', async () => {
  const bulk = { payments: [{ amount: 1 }, { amount: 999_999 }] };
  const { status, body } = await service.call('POST', '/payments', bulk);
  expect(status).toBe(201);
  expect(body.payments).toMatchObject([
    { fee_amount: 0, net_amount: 1, total_amount: 1 },
    { fee_amount: 999, net_amount: 999_000 },
  ]);
  expect(await create(1, 'one rupiah')).toMatchObject({ status: 201, body: { payment: { fee_amount: 0 } } });
});

it('the rate of a payment is in its history, and in the terms that a step compares', async () => {
  const { id } = (await create(2_000, 'compared')).body.payment;
  const terms = await findTerms(service.db, id);
  expect(terms.feeTerms).toMatchObject({ source: 'agreed', basisPoints: 10 });
  expect(await requireRecordedTerms(service.db, terms)).toMatchObject({ paymentId: id });
  const { feeTerms } = terms;
  if (!feeTerms) throw new Error('The payment has no rate');
  for (const changed of [
    undefined,
    { ...feeTerms, class: null },
    { ...feeTerms, basisPoints: 9 },
    { ...feeTerms, vatBasisPoints: 9 },
  ]) {
    await expect(requireRecordedTerms(service.db, { ...terms, feeTerms: changed })).rejects.toThrow(/feeTerms/);
  }
  await expect(requireRecordedTerms(service.db, { ...terms, vatRupiah: 1 })).rejects.toThrow(/vatRupiah/);
  const history = await service.client.workflow.getHandle(paymentWorkflowId(id)).fetchHistory();
  const { loadedDataConverter } = service.client.options;
  const context = {
    type: 'workflow',
    workflowId: paymentWorkflowId(id),
    namespace: service.temporal.namespace,
  } as const;
  expect((await creationIn(history, loadedDataConverter, context)).terms.feeTerms).toEqual(feeTerms);
});

it('no statement changes a rate, also the owner of the tables', async () => {
  const { id } = (await create(2_000, 'final')).body.payment;
  const rejected = { code: '23001' };
  const set = (value: string) => service.db.query(`update payments set fee_terms = ${value} where id = $1`, [id]);
  await expect(service.db.query('update payments set vat_rupiah = 1 where id = $1', [id])).rejects.toMatchObject(
    rejected,
  );
  await expect(set('null')).rejects.toMatchObject(rejected);
  await expect(set(`fee_terms || '{"basisPoints": 0}'`)).rejects.toMatchObject(rejected);
  await expect(service.db.query('update fee_schedules set bands = bands')).rejects.toMatchObject(rejected);
  await expect(service.db.query('delete from merchant_prices')).rejects.toMatchObject(rejected);
});
