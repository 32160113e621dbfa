import { listActions } from '../../../src/services/audit/list-actions';
import { listKeys } from '../../../src/services/merchants/keys/api-key';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { runLunas } from '../../cli/run-lunas';
import { statusOf } from '../../support/created-payment';
import { runBuiltLunas } from '../../support/lunas-process';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../../support/service';

/** `lunas trigger` as a developer runs it, once with the built command. */

const TIMEOUT_MS = 240_000;

const REFUND = ['create', 'pay', 'refund', 'submit-refund'];

let service: TestService;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 3_600 });
  environment = {
    ...operatorEnvironment(service),
    LUNAS_ENVIRONMENT: 'sandbox',
    PUBLIC_BASE_URL: service.apiUrl,
    SANDBOX_URL: service.sandboxUrl,
  };
  // A settlement that no test waits for.
  for (const provider of ['gopay', 'shopeepay'] as const)
    await setPolicy(service.db, { provider, channel: 'qris', settlementDelaySeconds: 86_400 });
}, TIMEOUT_MS);
afterAll(() => service.close());

const lunas = (...args: readonly string[]) => runLunas(args, environment);
const trigger = (...args: readonly string[]) => lunas('trigger', ...args, '--merchant', service.merchantId);

const newestKeys = async (merchantId: string) => (await listKeys(service.db, merchantId)).toReversed();

/** At the provider; undefined if it has no order. */
type Order = object | undefined;
const PAID: Order = { status: 'settlement', refunds: [] };
const ANY: Order = {};

it.each<[string, string, string[], Order]>([
  ['payment.created', 'pending', ['create'], { status: 'pending' }],
  ['payment.pending', 'pending', ['create'], { status: 'pending' }],
  ['payment.paid', 'paid', ['create', 'pay'], PAID],
  ['payment.settled', 'settled', ['create', 'pay', 'settle'], PAID],
  ['payment.expired', 'expired', ['create', 'expire'], { status: 'expire' }],
  ['payment.cancelled', 'cancelled', ['create', 'cancel'], { status: 'cancel' }],
  ['payment.failed', 'failed', ['create'], undefined],
  ['payment.refund_processing', 'refund_processing', ['create', 'pay', 'refund'], PAID],
  ['payment.refunded', 'refunded', REFUND, { refunds: [expect.objectContaining({ status: 'confirmed' })] }],
  ['payment.refund_failed', 'refund_failed', REFUND, { status: 'settlement' }],
  ['refund_failed', 'refund_failed', REFUND, { status: 'settlement' }],
  // Lunas returns the money.
  ['late_payment', 'expired', ['create', 'expire', 'pay'], ANY],
  ['provider_indeterminate', 'created', ['create'], undefined],
])(
  'takes a payment to %s',
  async (event, status, steps, order) => {
    const { exitCode, stdout, stderr } = await trigger(event, '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { payment, steps: taken } = JSON.parse(stdout);
    expect([payment.status, taken.map(({ step }: { step: string }) => step)]).toEqual([status, steps]);
    expect((await eventsOf(payment.id)).at(-1)).toBe(`payment.${status}`);
    expect([await service.atProvider(payment.reference_id)]).toMatchObject([order]);
  },
  TIMEOUT_MS,
);

async function eventsOf(paymentId: string): Promise<string[]> {
  const { rows } = await service.db.query<{ event: string }>(
    'select event from webhook_events where payment_id = $1 order by payment_version',
    [paymentId],
  );
  return rows.map(({ event }) => event);
}

it(
  'prints each step and the id, and uses the amount, the provider and the merchant of its options',
  async () => {
    const { id: merchantId } = await createSecondMerchant(service.db);
    const args = ['payment.paid', '--amount', '75000', '--provider', 'shopeepay', '--merchant', merchantId];
    const { stdout } = await runBuiltLunas(['trigger', ...args], environment);
    const paid = String.raw`\1 \([0-9a-f-]{36}\) of the order TRIGGER-[0-9A-F]{8} is paid\.\n`;
    expect(stdout).toMatch(new RegExp(String.raw`^create {9}(LN\w+) is pending\npay {12}\1 is paid\n${paid}$`));
    const { rows } = await service.db.query(
      `select amount_rupiah::integer as amount, provider, status from payments where merchant_id = $1`,
      [merchantId],
    );
    expect(rows).toEqual([{ amount: 75_000, provider: 'shopeepay', status: 'paid' }]);
    const [action] = await listActions(service.db, { limit: 1 });
    expect(action).toMatchObject({ action: 'sandbox.trigger', target: merchantId, outcome: 'succeeded' });
    const late = await lunas('trigger', 'late_payment', '--merchant', merchantId);
    expect(late.stdout).toMatch(
      /\npay {12}(LN\w+) is expired, with a late payment\n\1 .* is expired\. The money came too late: /,
    );
    expect((await newestKeys(merchantId)).map(({ name, revokedAt }) => [name, revokedAt])).toEqual([
      ['lunas trigger', null],
      [null, null],
    ]);
    // `lunas up` has created the key of the demo merchant.
    expect((await newestKeys(service.merchantId)).map(({ name }) => name)).toEqual(['Demo']);
  },
  TIMEOUT_MS,
);

it(
  'fires the timers of an existing payment, and rejects one that it does not have',
  async () => {
    const { id, reference_id: referenceId } = (await service.call('POST', '/payments', { amount: 50_000 })).body
      .payment;
    expect(await lunas('trigger', 'settle', referenceId)).toMatchObject({
      exitCode: 1,
      stderr: 'error: A transaction that is "pending" cannot be settled.\n',
    });
    expect(await lunas('trigger', 'expire', referenceId)).toMatchObject({
      exitCode: 0,
      stdout: `${referenceId} (${id}) is expired.\n`,
    });
    expect(await statusOf(service, id)).toBe('expired');
    expect(await lunas('trigger', 'expire', 'LN0000000000000000')).toMatchObject({
      exitCode: 1,
      stderr: 'error: There is no payment LN0000000000000000; lunas payments list shows the newest.\n',
    });
  },
  TIMEOUT_MS,
);

it(
  'rejects bad input with one sentence',
  async () => {
    const results = await Promise.all([
      lunas('trigger', 'payment.gone'),
      lunas('trigger', 'expire'),
      lunas('trigger', 'payment.paid', 'LN0123456789ABCDEF'),
      trigger('payment.failed', '--amount', '5000'),
      trigger('payment.cancelled', '--provider', 'shopeepay'),
      trigger('payment.paid', '--amount', '1'),
      trigger('payment.paid', '--amount', '1000402'),
      trigger('payment.cancelled', '--amount', '1000408'),
      lunas('trigger', 'payment.paid'),
      runLunas(['trigger', 'payment.paid'], { ...environment, LUNAS_ENVIRONMENT: 'production' }),
    ]);
    expect(results.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [2, expect.stringMatching(/^error: event must be payment\.created, .*submit-refund, not 'payment\.gone'\n$/)],
      [2, 'error: event needs the reference_id of a payment\n'],
      [2, expect.stringMatching(/^error: reference-id takes a new payment: leave it out/)],
      [1, 'error: payment.failed needs an amount of its own. Leave out --amount.\n'],
      [1, expect.stringMatching(/^error: The API rejected the request: .*shopeepay.*\n$/)],
      [1, expect.stringMatching(/^error: The API rejected the request: amount does not exceed its fee.*\n$/)],
      [
        1,
        expect.stringMatching(/^error: LN\w+ is failed, so it cannot reach payment\.paid\. The provider rejected .*/),
      ],
      [1, expect.stringMatching(/^error: LN\w+ is created, .* not issued its QR yet\. Leave out --amount\.\n$/)],
      [1, 'error: Name the merchant with --merchant; lunas merchants list has them.\n'],
      [1, expect.stringMatching(/^error: LUNAS_ENVIRONMENT is production\..*\n$/)],
    ]);
  },
  TIMEOUT_MS,
);
