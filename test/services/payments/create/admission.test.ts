import { setRecorder } from '../../../../src/observability/metrics';
import { Admission } from '../../../../src/services/payments/create/admission';
import { CreationRejectedError } from '../../../../src/services/payments/create/create-rejection';

const SLOTS = 96;
const ACCOUNT = 'account-a';

const PROVIDER = 'gopay';

const applicant = (merchantId: string, providerAccountId = ACCOUNT) =>
  ({
    merchantId,
    provider: PROVIDER,
    providerAccountId,
  }) as const;

function isAdmitted(admission: Admission, merchantId: string, account = ACCOUNT): boolean {
  try {
    admission.admit(applicant(merchantId, account));
    return true;
  } catch (error) {
    if (error instanceof CreationRejectedError && error.rejection.reason === 'creates_in_flight') return false;
    throw error;
  }
}

interface Bulk {
  state: 'waiting' | 'started' | 'rejected';
}

function admitBulk(admission: Admission, merchantId: string, items = 50): Bulk {
  const bulk: Bulk = { state: 'waiting' };
  admission.admitBulk(applicant(merchantId), items).then(
    () => (bulk.state = 'started'),
    (error: unknown) => (bulk.state = error instanceof CreationRejectedError ? 'rejected' : 'waiting'),
  );
  return bulk;
}

/** Not that of fake timers. */
const realSetImmediate = setImmediate;

/** Until what was admitted before is counted. */
const settled = () => new Promise((resolve) => realSetImmediate(resolve));

async function complete(admission: Admission, merchantId: string, creations: number): Promise<void> {
  for (let creation = 0; creation < creations; creation += 1) admission.release(applicant(merchantId), 'completed');
  await settled();
}

/** One request after the other. @returns how many of them are admitted */
function admitted(admission: Admission, merchantId: string, requests: number, account = ACCOUNT): number {
  return Array.from({ length: requests }, () => isAdmitted(admission, merchantId, account)).filter(Boolean).length;
}

/** The counts of `lunas_creates_total`, by outcome. */
let counted: Record<string, number>;
beforeEach(() => {
  counted = {};
  const count = (outcome = '', by = 1) => (counted[outcome] = (counted[outcome] ?? 0) + by);
  setRecorder({ increment: (_, { outcome }, by) => count(outcome, by), observe: () => undefined });
});
afterEach(() => jest.useRealTimers());

describe('admission', () => {
  it('a merchant alone has at most a third of the slots of an account', () => {
    expect(admitted(new Admission(SLOTS), 'one', 200)).toBe(SLOTS / 3);
  });

  it('16 creations of a merchant are admitted beside two merchants without a limit, and beside a bulk', () => {
    const beside = new Admission(SLOTS);
    for (let caller = 0; caller < 200; caller += 1) {
      isAdmitted(beside, 'one');
      isAdmitted(beside, 'other');
    }
    expect(admitted(beside, 'small', 16)).toBe(16);
    const besideBulk = new Admission(SLOTS);
    admitBulk(besideBulk, 'one');
    expect(admitted(besideBulk, 'small', 16)).toBe(16);
  });

  it.each([2, 3, 4])('16 creations of a merchant are admitted beside %i merchants without a limit', (merchants) => {
    const admission = new Admission(SLOTS);
    for (let caller = 0; caller < 200; caller += 1) {
      for (let merchant = 0; merchant < merchants; merchant += 1) isAdmitted(admission, `merchant ${merchant}`);
    }
    expect(admitted(admission, 'small', 16)).toBe(16);
  });

  it('all merchants together have at most all slots of an account', () => {
    const admission = new Admission(SLOTS);
    const counts = Array.from({ length: 500 }, (_, merchant) => admitted(admission, `merchant ${merchant}`, 2));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(SLOTS);
  });

  it('creations at an account take no slots of another account', () => {
    const admission = new Admission(SLOTS);
    for (let merchant = 0; merchant < 500; merchant += 1) admitted(admission, `merchant ${merchant}`, 1);
    expect(admitted(admission, 'merchant 1', 200, 'account-b')).toBe(SLOTS / 3);
  });

  it('the second of three bulks of fifty by one merchant starts when enough items have ended', async () => {
    const admission = new Admission(SLOTS);
    const bulks = Array.from({ length: 3 }, () => admitBulk(admission, 'one'));
    const states = () => bulks.map(({ state }) => state);
    await complete(admission, 'one', 35);
    expect(states()).toEqual(['started', 'waiting', 'rejected']);
    await complete(admission, 'one', 1);
    expect(states()).toEqual(['started', 'started', 'rejected']);
    expect(admitted(admission, 'small', 16)).toBe(16);
    await complete(admission, 'one', 64);
    expect(admission.stats()).toEqual({ inFlight: 16, rejected: 50 });
  });

  it('a bulk that waits starts also if there are few slots', async () => {
    const admission = new Admission(4);
    admitted(admission, 'one', 1);
    admitBulk(admission, 'one', 2);
    const second = admitBulk(admission, 'one', 2);
    await complete(admission, 'one', 2);
    expect(second.state).toBe('waiting');
    await complete(admission, 'one', 1);
    expect(second.state).toBe('started');
  });

  it('a bulk without a turn for six seconds is rejected, and takes no slots after that', async () => {
    jest.useFakeTimers();
    const admission = new Admission(SLOTS);
    admitBulk(admission, 'one');
    const second = admitBulk(admission, 'one');
    jest.advanceTimersByTime(6_000);
    await settled();
    expect(second.state).toBe('rejected');
    await complete(admission, 'one', 50);
    expect(admission.stats()).toEqual({ inFlight: 0, rejected: 50 });
  });

  it('a bulk without a slot does not wait at an account that completes nothing', async () => {
    jest.useFakeTimers();
    const admission = new Admission(SLOTS);
    admitted(admission, 'one', 32);
    jest.advanceTimersByTime(3_000);
    const bulk = admitBulk(admission, 'one');
    await settled();
    expect(bulk.state).toBe('rejected');
  });

  it('a merchant is rejected if it has no slot at any account of the provider', () => {
    const admission = new Admission(SLOTS);
    const requireSlot = () => admission.requireSlot('one', PROVIDER);
    expect(requireSlot).not.toThrow();
    admitted(admission, 'one', 1, 'account-b');
    admitted(admission, 'one', 200);
    expect(requireSlot).not.toThrow();
    admitted(admission, 'one', 200, 'account-b');
    expect(requireSlot).toThrow(CreationRejectedError);
    expect(() => admission.requireSlot('one', 'shopeepay')).not.toThrow();
    expect(() => admission.requireSlot('other', PROVIDER)).not.toThrow();
    admission.release(applicant('one', 'account-b'), 'completed');
    expect(requireSlot).not.toThrow();
  });

  it('an account whose creations are not completed keeps four slots, until one is completed', () => {
    const admission = new Admission(SLOTS);
    const taken = admitted(admission, 'one', 200);
    for (let creation = 0; creation < taken; creation += 1) admission.release(applicant('one'), 'failed');
    const probes = Array.from({ length: 500 }, (_, merchant) => admitted(admission, `merchant ${merchant}`, 1));
    expect(probes.reduce((sum, count) => sum + count, 0)).toBe(4);
    for (let merchant = 0; merchant < 4; merchant += 1) admission.release(applicant(`merchant ${merchant}`), 'failed');
    // 4, 8, 16, 32, 64, 96
    for (let creation = 0; creation < 5; creation += 1) {
      expect(admitted(admission, 'one', 1)).toBe(1);
      admission.release(applicant('one'), 'completed');
    }
    expect(admitted(admission, 'one', 200)).toBe(SLOTS / 3);
  });

  it('creations of a bulk that has waited halve nothing', () => {
    const admission = new Admission(SLOTS);
    const taken = admitted(admission, 'one', 200);
    for (let creation = 0; creation < taken; creation += 1) admission.release(applicant('one'), 'too_late');
    expect(counted).toMatchObject({ failed: taken });
    expect(admitted(admission, 'one', 200)).toBe(SLOTS / 3);
  });

  it('an account that completes nothing for three seconds keeps four slots, until it completes one', () => {
    jest.useFakeTimers();
    const admission = new Admission(SLOTS);
    expect(admitted(admission, 'one', 3)).toBe(3);
    jest.advanceTimersByTime(2_999);
    expect(admitted(admission, 'other', 10)).toBe(10);
    jest.advanceTimersByTime(1);
    expect(admitted(admission, 'third', 10)).toBe(0);
    admission.release(applicant('one'), 'completed');
    expect(admitted(admission, 'third', 10)).toBe(10);
    jest.advanceTimersByTime(3_000);
    expect(admitted(admission, 'third', 10)).toBe(0);
    expect(admitted(admission, 'third', 10, 'account-b')).toBe(10);
  });

  it('an account without creations in flight is not stalled', () => {
    jest.useFakeTimers();
    const admission = new Admission(SLOTS);
    admitted(admission, 'one', 1);
    jest.advanceTimersByTime(10_000);
    // Four slots, of which the first merchant has one: the second one gets half of what is free, less its own.
    expect(admitted(admission, 'other', 10)).toBe(1);
    for (const merchant of ['one', 'other']) admission.release(applicant(merchant), 'completed');
    jest.advanceTimersByTime(10_000);
    expect(admitted(admission, 'other', 10)).toBe(10);
  });

  it('counts a merchant that has its share apart from an account that has no capacity', () => {
    const admission = new Admission(SLOTS);
    const taken = admitted(admission, 'one', 40);
    expect(counted).toEqual({ over_share: 8 });
    for (let creation = 0; creation < taken; creation += 1) admission.release(applicant('one'), 'failed');
    expect(counted).toEqual({ over_share: 8, failed: 32 });
    admitted(admission, 'one', 100);
    expect(counted).toEqual({ over_share: 8, failed: 32, no_capacity: 98 });
    for (let creation = 0; creation < 2; creation += 1) admission.release(applicant('one'), 'completed');
    expect(counted).toMatchObject({ completed: 2 });
  });

  it('counts every rejection at an account that completes nothing as one without capacity', () => {
    jest.useFakeTimers();
    const admission = new Admission(SLOTS);
    admitted(admission, 'one', 30);
    jest.advanceTimersByTime(3_000);
    expect(() => admission.requireSlot('one', PROVIDER)).toThrow(CreationRejectedError);
    admitted(admission, 'other', 5);
    expect(counted).toEqual({ no_capacity: 6 });
  });

  it('counts a merchant without a slot as one without capacity if all slots are taken', () => {
    const admission = new Admission(SLOTS);
    for (let merchant = 0; merchant < 500; merchant += 1) admitted(admission, `merchant ${merchant}`, 1);
    expect(counted).toEqual({ no_capacity: 500 - SLOTS });
  });

  it('counts what is in flight and what was rejected', () => {
    const admission = new Admission(SLOTS);
    admitted(admission, 'one', 40);
    admitted(admission, 'one', 1, 'account-b');
    expect(admission.stats()).toEqual({ inFlight: 33, rejected: 8 });
    for (let creation = 0; creation < 32; creation += 1) admission.release(applicant('one'), 'completed');
    admission.release(applicant('one', 'account-b'), 'completed');
    expect(admission.stats()).toEqual({ inFlight: 0, rejected: 8 });
  });
});
