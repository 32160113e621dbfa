import { insertOperator } from '../../src/services/identity/operators';
import { cancelPendingPayments } from '../../src/services/merchants/hold-merchant';
import { changeHold, changeMerchant } from '../../src/services/merchants/merchants';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { osUser } from '../support/actors';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../support/service';

const NOTE = 'fraud, case 4711';

let service: TestService;
let secret: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  ({ secret } = await insertOperator(service.db, { name: 'dewi', environment: 'sandbox' }));
  const terms = { settlementKind: 'automatic', settlementDelaySeconds: 1 } as const;
  for (const provider of ['gopay', 'shopeepay'] as const) {
    await setPolicy(service.db, { provider, channel: 'qris', ...terms });
  }
});
afterAll(() => service.close());
afterEach(async () => {
  await changeHold(service.db, service.merchantId, false);
  await changeMerchant(service.db, service.merchantId, { status: 'approved' });
});

function act(path: string, note = NOTE): Promise<ApiResponse> {
  return service.callOperator('POST', `/operator/${path}`, { note }, { authorization: `Bearer ${secret}` });
}

async function create(provider = 'gopay'): Promise<{ id: string; reference_id: string }> {
  return (await service.call('POST', '/payments', { amount: 50_000, provider })).body.payment;
}

async function reach(id: string, transition: string): Promise<void> {
  await eventually(
    () => service.transitionsOf(id),
    (names) => names.includes(transition),
  );
}

async function attentionOf(id: string): Promise<string | null | undefined> {
  return (await service.workflows.queryStatus(id))?.attentionReason;
}

/** Paid, due, and not settled because its merchant is on hold. */
async function createHeld(): Promise<{ id: string; reference_id: string }> {
  const payment = await create();
  expect((await act(`merchants/${service.merchantId}/hold`)).status).toBe(200);
  await service.pay(payment.reference_id);
  await eventually(
    () => attentionOf(payment.id),
    (reason) => reason?.includes('the merchant is on hold') === true,
  );
  return payment;
}

async function lastTransition(id: string) {
  const { rows } = await service.db.query(
    'select name, actor, note from payment_transitions where payment_id = $1 order by version desc limit 1',
    [id],
  );
  return rows[0];
}

async function auditOf(target: string) {
  const { rows } = await service.db.query(
    'select action, actor, note from operator_actions where target = $1 order by id desc limit 1',
    [target],
  );
  return rows[0];
}

describe('the money of a merchant on hold', () => {
  it('the money of a merchant on hold is settled after the release, not when the delay is over', async () => {
    const { id } = await createHeld();
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay']);
    const { status, body } = await act(`merchants/${service.merchantId}/release`, 'case closed');
    expect([status, body.merchant.held_at]).toEqual([200, null]);
    await reach(id, 'settle');
    expect(await auditOf(service.merchantId)).toEqual({
      action: 'merchant.release',
      actor: 'operator:dewi',
      note: 'case closed',
    });
  });

  it('the money of a merchant on hold cannot be settled by an operator either', async () => {
    const { id } = await createHeld();
    const { status, body } = await act(`payments/${id}/settle`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('the merchant is on hold')]);
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'pay']);
  });

  it('goes back to the customer by an operator’s refund, also if the merchant is suspended', async () => {
    const { id } = await createHeld();
    await changeMerchant(service.db, service.merchantId, { status: 'suspended' });
    const { status, body } = await act(`payments/${id}/refund`);
    expect([status, body.payment.status]).toEqual([200, 'refund_processing']);
    expect(await lastTransition(id)).toEqual({ name: 'request_refund', actor: 'operator:dewi', note: NOTE });
    expect(await auditOf(id)).toEqual({ action: 'payment.refund', actor: 'operator:dewi', note: NOTE });
  });
});

describe('the pending payments of a merchant on hold', () => {
  it('an operator cancels the pending payments of a merchant on hold, in the operator’s name', async () => {
    const { id, reference_id } = await create();
    const { status, body } = await act(`payments/${id}/cancel`);
    expect([status, body.payment.status]).toEqual([200, 'cancelled']);
    expect((await service.atProvider(reference_id))?.status).toBe('cancel');
    expect(await lastTransition(id)).toEqual({ name: 'cancel', actor: 'operator:dewi', note: NOTE });
    expect(await auditOf(id)).toEqual({ action: 'payment.cancel', actor: 'operator:dewi', note: NOTE });
  });

  it('pending payments are cancelled together; one that cannot be cancelled is reported and expires', async () => {
    const payments = [await create(), await create('shopeepay'), await create()];
    const outcomes = await cancelPendingPayments(service, osUser('dewi'), service.merchantId, NOTE);
    const references = payments.map(({ reference_id }) => reference_id);
    expect(outcomes.map(({ payment, outcome }) => [payment, outcome])).toEqual([
      [references[0], 'cancelled'],
      [references[1], 'rejected'],
      [references[2], 'cancelled'],
    ]);
  });
});

it('a hold without a note is rejected', async () => {
  expect((await act(`merchants/${service.merchantId}/hold`, ' ')).body.error.code).toBe('invalid_json');
  const { rows } = await service.db.query('select held_at from merchants where id = $1', [service.merchantId]);
  expect(rows).toEqual([{ held_at: null }]);
});
