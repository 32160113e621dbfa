import type { ProviderCall } from '../../../src/domain/provider-call';
import type { PayoutProvider } from '../../../src/providers/payout-provider';
import type { ReceivedNotification } from '../../../src/providers/provider';
import {
  extractNotificationKeys,
  parseNotificationKeys,
  parsePayoutCredentials,
} from '../../../src/providers/snap/payout-credentials';
import { verifyPayoutNotification } from '../../../src/providers/snap/payout-notification';
import { PAYOUT_PROFILES } from '../../../src/providers/snap/payout-profiles';
import { createSnapPayoutProvider } from '../../../src/providers/snap/snap-payout-provider';
import {
  issuedTo,
  newPayoutReference,
  openBank,
  type BankMerchant,
  type BankUnderTest,
  type ProfileName,
} from '../../sandbox/bank/bank-under-test';
import { startNotificationReceiver, type Json, type NotificationReceiver } from '../../sandbox/sandbox-under-test';
import { eventually } from '../../support/eventually';

const AMOUNT_RUPIAH = 250_000;
const DEMO_ACCOUNT = '1234567890';
const PROFILES: readonly ProfileName[] = ['midtrans', 'faspay'];

const within = (timeoutMs = 60_000, signal = new AbortController().signal): ProviderCall => ({
  signal,
  deadlineAtMs: Date.now() + timeoutMs,
});

const INDETERMINATE = { outcome: 'indeterminate', reason: expect.stringMatching(/\S/) };
/** Long enough to send a request on a busy machine, and shorter than any response that never comes. */
const SHORT_MS = 1_500;

let bank: BankUnderTest;
let receiver: NotificationReceiver;

beforeAll(async () => {
  [bank, receiver] = await Promise.all([openBank(), startNotificationReceiver()]);
});

afterAll(async () => {
  await bank.sandbox.close();
  await receiver.close();
});

function connect(merchant: BankMerchant, changes: { baseUrl?: string; credentials?: object } = {}) {
  return createSnapPayoutProvider({
    profile: merchant.profile,
    baseUrl: changes.baseUrl ?? merchant.baseUrl,
    credentials: parsePayoutCredentials(JSON.stringify({ ...issuedTo(merchant), ...changes.credentials })),
  });
}

/** Verifies what the bank sends to the merchant. */
function verifierOf(merchant: BankMerchant, changes: object = {}) {
  const keys = parseNotificationKeys(extractNotificationKeys(JSON.stringify({ ...issuedTo(merchant), ...changes })));
  const profile = PAYOUT_PROFILES[merchant.profile];
  return (received: ReceivedNotification) =>
    verifyPayoutNotification(received, { profile, keys, notificationUrl: receiver.url });
}

function orderTo(number: string, referenceId = newPayoutReference(), amountRupiah = AMOUNT_RUPIAH) {
  const account = { bankCode: '014', number };
  return { referenceId, sendNumber: 1, amountRupiah, account, holderName: 'TOKO DEMO LUNAS', submittedAt: new Date() };
}

const keyOf = (referenceId: string) => ({ referenceId, bankReference: null, submittedAt: new Date() });

describe.each(PROFILES)('payouts by the profile %s at the sandbox bank', (profile) => {
  let merchant: BankMerchant;
  let provider: PayoutProvider & { close(): Promise<void> };

  beforeAll(async () => {
    merchant = await bank.register(profile, receiver.url);
    provider = connect(merchant);
  });

  afterAll(() => provider.close());

  const send = (number: string, referenceId?: string, call = within()) =>
    provider.sendPayout(orderTo(number, referenceId), call);
  const inquire = (number: string, call = within()) => provider.inquireAccount({ bankCode: '014', number }, call);

  async function findWith(referenceId: string, isExpected: (payout: Json) => boolean): Promise<Json> {
    const found = await eventually(
      () => provider.findPayout(keyOf(referenceId), within()),
      (outcome) => outcome.outcome === 'found' && isExpected(outcome.payout),
    );
    return found.outcome === 'found' ? found.payout : undefined;
  }

  const directionsOf = async (referenceId: string): Promise<string[]> =>
    ((await bank.findTransfer(referenceId))?.executions ?? []).map(({ direction }: Json) => direction);

  describe('the inquiry', () => {
    it.each([
      [DEMO_ACCOUNT, { outcome: 'found', holderName: 'TOKO DEMO LUNAS' }],
      ['9900000060', { outcome: 'found', holderName: 'PT NAMA LAIN' }],
      ['9900000061', { outcome: 'rejected', failureKind: 'account', reason: '4031618 Inactive Account' }],
      ['9900000062', { outcome: 'rejected', failureKind: 'account', reason: '4041611 Invalid Account' }],
      ['9900000063', { outcome: 'found', holderName: 'TOKO DEMO LUNAS' }],
    ])('an inquiry finds the holder of account %s, or has the reason of the bank', async (number, expected) => {
      expect(await inquire(number)).toEqual(expected);
    });

    it('an inquiry is rejected for a name without an accepted character: no transfer to it would arrive', async () => {
      const reason = "the bank accepts no character of the holder's name";
      expect(await inquire('9900000066')).toEqual({ outcome: 'rejected', failureKind: 'account', reason });
    });

    it('an inquiry without a response is indeterminate', async () => {
      expect(await inquire('9900000064', within(SHORT_MS))).toEqual(INDETERMINATE);
    });

    it('an inquiry of a malformed number is rejected, and no reason about the account', async () => {
      expect(await inquire('12')).toMatchObject({ outcome: 'rejected', failureKind: 'other' });
    });
  });

  describe('a payout', () => {
    it('a payout is accepted, pending, and completed: the bank has executed it one time', async () => {
      const order = orderTo('9900000020');
      const accepted = await provider.sendPayout(order, within());
      expect(accepted).toEqual({ outcome: 'accepted', bankReference: expect.stringMatching(/^B\d+$/) });
      const pending = await findWith(order.referenceId, () => true);
      expect(pending).toEqual({
        status: 'pending',
        amountRupiah: AMOUNT_RUPIAH,
        accountLastFour: '0020',
        bankReference: accepted.outcome === 'accepted' && accepted.bankReference,
        completedAt: null,
        failureKind: null,
        reason: null,
      });
      expect(await directionsOf(order.referenceId)).toEqual([]);
      await bank.sandbox.call('POST', `/simulator/transfers/${order.referenceId}/complete`);
      const completed = await findWith(order.referenceId, ({ status }) => status === 'completed');
      expect(completed).toMatchObject({ amountRupiah: AMOUNT_RUPIAH, completedAt: expect.any(Date) });
      expect(await directionsOf(order.referenceId)).toEqual(['out']);
    });

    it('completes without a control call, and its account and amount are those of the order', async () => {
      const order = orderTo(DEMO_ACCOUNT);
      await provider.sendPayout(order, within());
      await findWith(order.referenceId, ({ status }) => status === 'completed');
      expect(await bank.findTransfer(order.referenceId)).toMatchObject({
        status: 'completed',
        send_calls: 1,
        bank_code: '014',
        executions: [{ direction: 'out', amount_rupiah: AMOUNT_RUPIAH, account_number: DEMO_ACCOUNT }],
      });
    });

    it('a payout has the name as the bank accepts it, and the inquiry as the bank reports it', async () => {
      const holderName = "H. MUH. ARI'F, S.KOM";
      expect(await inquire('9900000065')).toEqual({ outcome: 'found', holderName });
      const order = { ...orderTo('9900000065'), holderName };
      expect(await provider.sendPayout(order, within())).toMatchObject({ outcome: 'accepted' });
      await findWith(order.referenceId, ({ status }) => status === 'completed');
    });

    it('a payout whose name the bank rejects is no reason to send another one to the account', async () => {
      const order = { ...orderTo(DEMO_ACCOUNT), holderName: '' };
      const rejection = { outcome: 'rejected', failureKind: 'account', reason: expect.stringMatching(/^4001801 /) };
      expect(await provider.sendPayout(order, within())).toEqual(rejection);
    });

    it('fails', async () => {
      const { referenceId } = orderTo('9900000021');
      await send('9900000021', referenceId);
      await bank.sandbox.call('POST', `/simulator/transfers/${referenceId}/fail`);
      const failed = await findWith(referenceId, ({ status }) => status === 'failed');
      expect(failed).toMatchObject({ failureKind: 'other', reason: 'FAILED', completedAt: null });
      expect(await directionsOf(referenceId)).toEqual([]);
    });

    it('a payout is returned after it has completed', async () => {
      const { referenceId } = orderTo('9900000030');
      await send('9900000030', referenceId);
      // Midtrans reports it as failed.
      const status = profile === 'midtrans' ? 'failed' : 'returned';
      await findWith(referenceId, (payout) => payout.status === status);
      expect(await directionsOf(referenceId)).toEqual(['out', 'back']);
    });

    it('a payout is completed after it has failed', async () => {
      const { referenceId } = orderTo('9900000031');
      await send('9900000031', referenceId);
      await findWith(referenceId, ({ status }) => status === 'failed');
      await findWith(referenceId, ({ status }) => status === 'completed');
      expect(await directionsOf(referenceId)).toEqual(['out']);
    });

    it.each([
      ['9900000050', 'account', '4031818 Inactive Account'],
      ['9900000051', 'source_balance', '4031814 Insufficient Funds'],
    ] as const)('a payout to %s is rejected: %s', async (number, failureKind, reason) => {
      const { referenceId } = orderTo(number);
      expect(await send(number, referenceId)).toEqual({ outcome: 'rejected', failureKind, reason });
      expect(await provider.findPayout(keyOf(referenceId), within())).toEqual({ outcome: 'not_found' });
      expect(await bank.findTransfer(referenceId)).toMatchObject({ status: 'rejected', executions: [] });
    });

    it('a payout in the cut-off is rejected only if the bank promises that it moved nothing', async () => {
      const expected = profile === 'midtrans' ? { outcome: 'rejected', failureKind: 'cut_off' } : INDETERMINATE;
      expect(await send('9900000052')).toMatchObject(expected);
    });

    it('a payout whose account number or amount the bank reports otherwise is found as it reports', async () => {
      const { referenceId } = orderTo('9900000080');
      await send('9900000080', referenceId);
      const found = await findWith(referenceId, ({ status }) => status === 'completed');
      expect(found).toMatchObject({ amountRupiah: AMOUNT_RUPIAH + 1, accountLastFour: '0080' });
    });
  });

  describe('a repeat', () => {
    it('a repeat of an accepted payout is indeterminate, and is not executed again', async () => {
      const order = orderTo('9900000020');
      expect(await provider.sendPayout(order, within())).toMatchObject({ outcome: 'accepted' });
      const used = { outcome: 'indeterminate', reason: 'responseCode decides nothing: 4091800 Conflict' };
      expect(await provider.sendPayout(order, within())).toEqual(used);
      await bank.sandbox.call('POST', `/simulator/transfers/${order.referenceId}/complete`);
      const known = {
        outcome: 'indeterminate',
        reason: 'responseCode decides nothing: 4091801 Duplicate partnerReferenceNo',
      };
      expect(await provider.sendPayout({ ...order, sendNumber: 2 }, within())).toEqual(known);
      expect(await directionsOf(order.referenceId)).toEqual(['out']);
    });

    it('ten concurrent sends of a payout are accepted and executed once', async () => {
      const order = orderTo(DEMO_ACCOUNT);
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => provider.sendPayout(order, within())));
      expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(
        ['accepted'].concat(Array.from({ length: 9 }, () => 'indeterminate')),
      );
      await findWith(order.referenceId, ({ status }) => status === 'completed');
      expect(await directionsOf(order.referenceId)).toEqual(['out']);
    });

    it('a repeat after 409xx00 of the first call is executed with a permission of its own', async () => {
      const order = orderTo('9900000042');
      expect(await provider.sendPayout(order, within())).toEqual(INDETERMINATE);
      expect(await provider.findPayout(keyOf(order.referenceId), within())).toEqual({ outcome: 'not_found' });
      expect(await provider.sendPayout(order, within())).toEqual(INDETERMINATE);
      expect(await directionsOf(order.referenceId)).toEqual([]);
      expect(await provider.sendPayout({ ...order, sendNumber: 2 }, within())).toMatchObject({ outcome: 'accepted' });
      await findWith(order.referenceId, ({ status }) => status === 'completed');
      expect(await directionsOf(order.referenceId)).toEqual(['out']);
    });
  });

  describe('a lost message', () => {
    it('a message lost after the execution is indeterminate, and the payout is found as completed', async () => {
      const { referenceId } = orderTo('9900000040');
      expect(await send('9900000040', referenceId, within(SHORT_MS))).toEqual(INDETERMINATE);
      await findWith(referenceId, ({ status }) => status === 'completed');
      expect(await directionsOf(referenceId)).toEqual(['out']);
    });

    it('a message lost before the execution is indeterminate, and the payout is never found', async () => {
      const { referenceId } = orderTo('9900000041');
      expect(await send('9900000041', referenceId, within(SHORT_MS))).toEqual(INDETERMINATE);
      expect(await provider.findPayout(keyOf(referenceId), within())).toEqual({ outcome: 'not_found' });
      expect(await bank.findTransfer(referenceId)).toMatchObject({ send_calls: 1, executions: [] });
    });

    it.each(['reset', 'http_500'])('%s: the transfer is indeterminate, and was not executed', async (kind) => {
      const { referenceId } = orderTo(DEMO_ACCOUNT);
      await bank.fail('transfer', kind);
      expect(await send(DEMO_ACCOUNT, referenceId)).toEqual(INDETERMINATE);
      expect(await bank.findTransfer(referenceId)).toBeUndefined();
    });

    it.each(['accept_then_reset', 'half_body'])('%s: the transfer is indeterminate, and is found', async (kind) => {
      const { referenceId } = orderTo(DEMO_ACCOUNT);
      await bank.fail('transfer', kind);
      expect(await send(DEMO_ACCOUNT, referenceId)).toEqual(INDETERMINATE);
      await findWith(referenceId, ({ status }) => status === 'completed');
      expect(await directionsOf(referenceId)).toEqual(['out']);
    });

    it.each(['reset', 'http_500', 'reject', 'half_body'])('%s: the status is indeterminate', async (kind) => {
      const { referenceId } = orderTo('9900000020');
      await send('9900000020', referenceId);
      await bank.fail('transfer_status', kind);
      expect(await provider.findPayout(keyOf(referenceId), within())).toEqual(INDETERMINATE);
      expect(await provider.findPayout(keyOf(referenceId), within())).toMatchObject({ outcome: 'found' });
    });
  });

  describe('a deadline', () => {
    it('a deadline that is over sends nothing', async () => {
      const { referenceId } = orderTo(DEMO_ACCOUNT);
      expect(await send(DEMO_ACCOUNT, referenceId, within(-1))).toEqual(INDETERMINATE);
      expect(await bank.findTransfer(referenceId)).toBeUndefined();
    });

    it('ends a call without a response, and so does its activity', async () => {
      await bank.fail('transfer_status', 'timeout', 2);
      expect(await provider.findPayout(keyOf(newPayoutReference()), within(SHORT_MS))).toEqual(INDETERMINATE);
      const activity = new AbortController();
      const pending = provider.findPayout(keyOf(newPayoutReference()), within(600_000, activity.signal));
      await eventually(
        () => bank.sandbox.call('GET', '/simulator/faults'),
        ({ faults }) => faults.length === 0,
      );
      activity.abort();
      expect(await pending).toEqual(INDETERMINATE);
    });

    it('a bank that does not listen is indeterminate', async () => {
      const unreachable = connect(merchant, { baseUrl: 'http://127.0.0.1:9' });
      expect(await unreachable.sendPayout(orderTo(DEMO_ACCOUNT), within())).toEqual(INDETERMINATE);
      await unreachable.close();
    });
  });

  describe('a notification', () => {
    const receivedFor = async (referenceId: string, count = 1) => {
      const read = () => Promise.resolve(receiver.notifications.filter(({ body }) => body.includes(referenceId)));
      const received = await eventually(read, (found) => found.length >= count);
      return received.map(({ body, headers }) => ({ rawBody: Buffer.from(body), headers }));
    };

    it('a notification is verified, and names the payout and its status', async () => {
      const { referenceId } = orderTo(DEMO_ACCOUNT);
      await send(DEMO_ACCOUNT, referenceId);
      const verified = (await receivedFor(referenceId, 2)).map((notification) => verifierOf(merchant)(notification));
      expect(verified).toEqual(
        expect.arrayContaining([
          { outcome: 'verified', referenceId, reportedStatus: 'pending', dedupeKey: expect.any(String) },
          { outcome: 'verified', referenceId, reportedStatus: 'completed', dedupeKey: expect.any(String) },
        ]),
      );
    });

    it('a notification of another merchant, of another body or without a key is not genuine', async () => {
      const { referenceId } = orderTo('9900000020');
      await send('9900000020', referenceId);
      const [notification] = await receivedFor(referenceId);
      if (!notification) throw new Error('There is no notification');
      const isVerified = (received: typeof notification, verify = verifierOf(merchant)) => verify(received).outcome;
      expect(isVerified(notification)).toBe('verified');
      const other = newPayoutReference();
      const rawBody = Buffer.from(notification.rawBody.toString().replaceAll(referenceId, other));
      expect(isVerified({ ...notification, rawBody })).toBe('invalid_signature');
      expect(isVerified({ ...notification, headers: {} })).toBe('invalid_signature');
      expect(isVerified({ ...notification, rawBody: Buffer.alloc(65 * 1024) })).toBe('malformed');
      const stranger = await bank.register(profile === 'midtrans' ? 'faspay' : 'midtrans', receiver.url);
      expect(isVerified(notification, verifierOf(stranger))).toBe('invalid_signature');
      const withoutKeys = verifierOf(merchant, { merchantKey: undefined, acquirerPublicKeys: undefined });
      expect(isVerified(notification, withoutKeys)).toBe('invalid_signature');
    });

    it('arrives twice, in the wrong order, forged, or never, by the number of the account', async () => {
      const send4 = ['9900000070', '9900000071', '9900000072', '9900000073'].map((number) => orderTo(number));
      for (const order of send4) await provider.sendPayout(order, within());
      const [twice = '', disordered = '', forged = '', silent = ''] = send4.map(({ referenceId }) => referenceId);
      const statusesOf = async (referenceId: string, count: number) =>
        (await receivedFor(referenceId, count)).map((notification) => {
          const verified = verifierOf(merchant)(notification);
          return verified.outcome === 'verified' ? verified.reportedStatus : verified.outcome;
        });
      const ofTwice = await statusesOf(twice, 4);
      for (const status of ['completed', 'pending']) expect(ofTwice.filter((each) => each === status)).toHaveLength(2);
      expect(await statusesOf(disordered, 2)).toEqual(['completed', 'pending']);
      expect(await statusesOf(forged, 2)).toEqual(['invalid_signature', 'invalid_signature']);
      await findWith(silent, ({ status }) => status === 'completed');
      expect(receiver.bodies.filter((body) => body.includes(silent))).toEqual([]);
    });

    it('the fault bad_signature makes the signature of one attempt wrong', async () => {
      await bank.fail('transfer_notify', 'bad_signature');
      const { referenceId } = orderTo('9900000020');
      await send('9900000020', referenceId);
      const [notification] = await receivedFor(referenceId);
      if (!notification) throw new Error('There is no notification');
      expect(verifierOf(merchant)(notification)).toEqual({ outcome: 'invalid_signature' });
    });
  });
});

describe('a token', () => {
  it('a revoked or expired token is replaced within the call, and the transfer is executed one time', async () => {
    const merchant = await bank.register('midtrans');
    const provider = connect(merchant);
    expect(await provider.sendPayout(orderTo('9900000020'), within())).toMatchObject({ outcome: 'accepted' });
    await bank.sandbox.call('DELETE', '/simulator/snap/tokens');
    const order = orderTo('9900000020');
    expect(await provider.sendPayout(order, within())).toMatchObject({ outcome: 'accepted' });
    expect(await bank.findTransfer(order.referenceId)).toMatchObject({ send_calls: 1 });
    await provider.close();
  });

  it('a token that the bank does not issue makes a call indeterminate: nothing was sent', async () => {
    const provider = connect(await bank.register('midtrans'));
    const order = orderTo(DEMO_ACCOUNT);
    await bank.fail('token', 'reject');
    expect(await provider.sendPayout(order, within())).toEqual({
      outcome: 'indeterminate',
      reason: 'no token: 4017300 Unauthorized. Signature',
    });
    await bank.fail('token', 'reject');
    const prepared = await provider.prepareSend(order.referenceId, within());
    expect(prepared).toMatchObject({ outcome: 'indeterminate', reason: expect.stringContaining('no token') });
    expect(await provider.prepareSend(order.referenceId, within())).toEqual({ outcome: 'ready' });
    expect(await bank.findTransfer(order.referenceId)).toBeUndefined();
    await provider.close();
  });

  it('a call with another client secret is indeterminate', async () => {
    const provider = connect(await bank.register('midtrans'), { credentials: { clientSecret: 'another' } });
    expect(await provider.sendPayout(orderTo(DEMO_ACCOUNT), within())).toEqual(INDETERMINATE);
    expect(await provider.findPayout(keyOf(newPayoutReference()), within())).toEqual(INDETERMINATE);
    await provider.close();
  });
});

describe('our balance at the bank', () => {
  it('a payout above our balance at the bank is rejected: open payouts count, completed ones do not', async () => {
    const ours = await openBank();
    const provider = connect(await ours.register('midtrans'));
    await ours.sandbox.call('PUT', '/simulator/bank-account', { balance_rupiah: 300_000 });
    const short = { outcome: 'rejected', failureKind: 'source_balance' };
    const send = (order: ReturnType<typeof orderTo>) => provider.sendPayout(order, within());
    const balance = async () => (await ours.sandbox.call('GET', '/simulator/bank-account')).balance_rupiah;
    expect(await send(orderTo(DEMO_ACCOUNT, undefined, 300_001))).toMatchObject(short);
    const open = orderTo('9900000020', undefined, 200_000);
    expect(await send(open)).toMatchObject({ outcome: 'accepted' });
    expect(await balance()).toBe(300_000);
    expect(await send(orderTo(DEMO_ACCOUNT, undefined, 100_001))).toMatchObject(short);
    await ours.sandbox.call('POST', `/simulator/transfers/${open.referenceId}/complete`);
    expect(await balance()).toBe(100_000);
    await ours.sandbox.call('POST', `/simulator/transfers/${open.referenceId}/return`);
    expect(await balance()).toBe(300_000);
    await provider.close();
    await ours.sandbox.close();
  });
});

describe('the credentials', () => {
  it('name each wrong field, and no value', () => {
    const wrong = JSON.stringify({ clientId: 'x', channelId: 'planted', privateKey: 'planted', planted: 1 });
    expect(() => extractNotificationKeys(wrong)).toThrow(/partnerId.*channelId.*privateKey.*sourceAccountNo/);
    expect(() => extractNotificationKeys('planted')).toThrow(/^(?!.*planted)/);
  });

  it('one part of the credentials verifies notifications, and cannot call the bank', async () => {
    const merchant = await bank.register('faspay');
    const notificationKeys = extractNotificationKeys(JSON.stringify(issuedTo(merchant)));
    expect(Object.keys(JSON.parse(notificationKeys)).toSorted()).toEqual(['acquirerPublicKeys', 'merchantKey']);
    expect(() => parsePayoutCredentials(notificationKeys)).toThrow(/privateKey/);
  });

  it('credentials of a profile with tokens need a client secret', async () => {
    const merchant = await bank.register('midtrans');
    expect(() => connect(merchant, { credentials: { clientSecret: undefined } })).toThrow(/clientSecret/);
  });
});
