import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { dayInWib } from '../../../src/domain/wib';
import { setFeeSchedules } from '../../../src/services/fees/set-fee-schedules';
import { olderRunningVersions } from '../../../src/temporal/worker-versions';
import { runLunas } from '../../cli/run-lunas';
import { osUser } from '../../support/actors';
import { createProductionDatabase, createTestDatabase, type TestDatabase } from '../../support/database';
import { createTestLedger } from '../../support/payments';
import { createOperatorWithLogin, urlOfOperator } from '../../support/production';

/* `lunas fees`: what is wrong is one sentence, and writes nothing; in production two operators decide. */

type Lunas = (...args: readonly string[]) => ReturnType<typeof runLunas>;

const DAY_MS = 86_400_000;
const today = () => dayInWib(new Date());
const tomorrow = () => dayInWib(new Date(Date.now() + DAY_MS));

async function countRows(db: Pool): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select (select count(*) from fee_schedules) + (select count(*) from merchant_prices) as count',
  );
  return rows[0]?.count ?? -1;
}

describe('in a sandbox', () => {
  let ledger: Awaited<ReturnType<typeof createTestLedger>>;
  let lunas: Lunas;

  beforeEach(async () => {
    ledger = await createTestLedger(createTestDatabase);
    const environment = { DATABASE_URL: ledger.database.urlOf('lunas_local_operator') };
    lunas = (...args) => runLunas([...args, '--json'], environment);
  });
  afterEach(() => ledger.close());

  const SET = ['fees', 'set', '--valid-from', '2026-01-01', '--class', 'UMI'];

  it.each([
    [[...SET, '--band', '0'], "--band must be FROM:BPS, such as 500001:30, not '0'"],
    [[...SET, '--band', '0:10001'], '--band has at most 10000000:10000'],
    [[...SET, '--band', '1:30'], '--band must begin at 0 and ascend, such as --band 0:0 --band 500001:30'],
    [[...SET, '--band', '0:0', '--band', '500001:30', '--band', '500001:40'], '--band must begin at 0 and ascend'],
    [[...SET, '--band', '0:0', '--band', '9:1', '--band', '8:2'], '--band must begin at 0 and ascend'],
    [[...SET, ...Array.from({ length: 11 }, (_, band) => ['--band', `${band}:1`]).flat()], 'at most 10 times'],
    [[...SET.slice(0, -1), 'UMX', '--band', '0:1'], '--class must be UMI, UKE, UME, UBE, education, fuel'],
    [[...SET.slice(0, -1), 'VAT', '--band', '0:1', '--band', '1:2'], 'VAT has one band, such as --band 0:1100'],
    [[...SET], 'set needs --class and --band, or only --proposal'],
    [[...SET, '--proposal'], 'set needs --class and --band, or only --proposal'],
    [['fees', 'set', '--proposal', '--valid-from', '1-1-2026'], '--valid-from must be a day such as 2027-01-01'],
    [['fees', 'set', '--proposal', '--valid-from', '0000-01-01'], '--valid-from must be a day such as 2027-01-01'],
    [
      ['fees', 'quote', '--merchant', 'MERCHANT', '--amount', '1', '--at', '9999-12-31T23:00:00Z'],
      '--at must be a day',
    ],
    [['fees', 'list', '--at', '0000-01-01'], '--at must be a day such as 2027-01-01, or a timestamp'],
    [['invoices', 'list', '--month', '0000-01'], '--month must be a month such as 2026-11'],
    [['statements', 'list', '--merchant', 'MERCHANT', '--month', '0000-01'], '--month must be a month such as 2026-11'],
    [['fees', 'agree', 'MERCHANT', '--valid-from', '2026-01-01'], 'agree needs --bps, or only --none'],
    [['fees', 'agree', 'MERCHANT', '--none', '--flat', '1', '--valid-from', '2026-01-01'], 'or only --none'],
    [['fees', 'quote', '--merchant', 'MERCHANT', '--amount', '0'], '--amount must be a whole number from 1'],
    [['fees', 'quote', '--merchant', 'MERCHANT', '--amount', '1', '--at', 'now'], '--at must be a day such as'],
  ])('%j is one sentence, and writes nothing', async (args, sentence) => {
    const named = args.map((text) => (text === 'MERCHANT' ? ledger.merchantId : text));
    const { exitCode, stderr } = await lunas(...named);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(sentence) });
    expect(stderr.trim().split(/\n|; /)).toHaveLength(1);
    expect(await countRows(ledger.db)).toBe(0);
  });

  it('lists what is in force and what comes later, without what was replaced', async () => {
    const set = (day: string, bps: number) =>
      lunas('fees', 'set', '--class', 'UKE', '--band', `0:${bps}`, '--valid-from', day);
    for (const [day, bps] of [
      ['2024-12-01', 70],
      ['2026-01-01', 60],
      ['2026-01-01', 61],
      ['2099-01-01', 50],
    ] as const) {
      expect(await set(day, bps)).toMatchObject({ exitCode: 0, stderr: '' });
    }
    const agreed = ['fees', 'agree', ledger.merchantId, '--valid-from'];
    await lunas(...agreed, '2026-01-01', '--bps', '30', '--flat', '100');
    await lunas(...agreed, '2099-01-01', '--none');
    const { schedules, prices } = JSON.parse((await lunas('fees', 'list', '--merchant', ledger.merchantId)).stdout);
    expect(schedules).toMatchObject([
      { class: 'UKE', version: 3, valid_from: '2026-01-01', bands: [{ from_rupiah: 0, basis_points: 61 }] },
      { version: 4, valid_from: '2099-01-01' },
    ]);
    expect(prices).toMatchObject([
      { merchant_id: ledger.merchantId, valid_from: '2026-01-01', basis_points: 30, flat_rupiah: 100 },
      { valid_from: '2099-01-01', basis_points: null, flat_rupiah: null },
    ]);
    const early = JSON.parse((await lunas('fees', 'list', '--at', '2025-12-31')).stdout);
    expect(early.schedules).toMatchObject([{ version: 1 }, { version: 3 }, { version: 4 }]);
  });

  it('the proposal has all classes, and a quote writes nothing', async () => {
    expect((await lunas('fees', 'set', '--proposal', '--valid-from', '2024-12-01')).exitCode).toBe(0);
    expect(await countRows(ledger.db)).toBe(8);
    const quote = ['fees', 'quote', '--merchant', ledger.merchantId, '--amount', '100001', '--amount', '1'];
    expect(JSON.parse((await lunas(...quote, '--at', '2026-01-01')).stdout)).toEqual({
      quotes: [
        {
          amount: 100_001,
          fee_amount: 701,
          vat_amount: 0,
          net_amount: 99_300,
          total_amount: 100_001,
          source: 'catalog',
          class: null,
          basis_points: 70,
          flat_amount: 0,
          valid_from: null,
        },
        { amount: 1, error: 'fee_reaches_amount' },
      ],
    });
    const unknown = await lunas(...quote.with(3, '01935b6c-7c00-7000-8000-00006c756e62'));
    expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('There is no merchant') });
  });

  it('no VAT begins while a worker runs that would book it as revenue', async () => {
    const bands = [{ fromRupiah: 0, basisPoints: 1_100 }];
    const call = {
      path: {},
      input: { validFrom: '2026-01-01', schedules: [{ class: 'VAT' as const, bands }] },
      formId: randomUUID(),
    };
    const set = (...older: string[]) =>
      setFeeSchedules.run({ db: ledger.db, findOlderWorkers: () => Promise.resolve(older) }, osUser('root'), call);
    expect(await set('build-1')).toMatchObject({
      outcome: 'rejected',
      message: expect.stringMatching(/^Workers of version build-1 would book the VAT as revenue/),
    });
    expect(await countRows(ledger.db)).toBe(0);
    expect(await set()).toMatchObject({ outcome: 'done', value: [{ class: 'VAT', bands }] });
  });

  it.each([
    [['created', 'current'], ['b1']],
    [['current', 'draining', 'drained'], ['b1']],
    [['current', 'drained', 'inactive'], []],
    [['drained', 'current'], ['b1']],
    [[], []],
  ] as const)('versions that are %j, newest first, have %j as older ones that run', (states, older) => {
    const versions = states.map((status, index) => ({
      buildId: `b${index}`,
      status,
      createdAt: undefined,
      drainingSince: undefined,
    }));
    expect(olderRunningVersions(versions)).toEqual(older);
  });
});

describe('in production', () => {
  let database: TestDatabase;
  let db: Pool;
  let merchantId: string;
  let dewi: Lunas;
  let budi: Lunas;

  beforeAll(async () => {
    const ledger = await createTestLedger(createProductionDatabase);
    ({ database, db, merchantId } = ledger);
    const open = async (name: string): Promise<Lunas> => {
      const { secret: LUNAS_OPERATOR_KEY } = await createOperatorWithLogin(database, db, name);
      const environment = { DATABASE_URL: await urlOfOperator(database, name), LUNAS_OPERATOR_KEY };
      return (...args) => runLunas([...args, '--note', 'circular 12', '--json'], environment);
    };
    [dewi, budi] = [await open('dewi'), await open('budi')];
    await db.query("update operators set created_at = now() - interval '2 days'");
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  /** @returns the number of the request */
  async function request(...args: readonly string[]): Promise<string> {
    const { exitCode, stderr } = await dewi(...args);
    const [, number = ''] = /lunas approvals approve (\d+)/.exec(stderr) ?? [];
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(/approve \d+ /) });
    return number;
  }

  const setRates = (day: string, bps: number) =>
    ['fees', 'set', '--class', 'UKE', '--band', `0:${bps}`, '--valid-from', day] as const;
  const agree = (day: string, bps: number) =>
    ['fees', 'agree', merchantId, '--bps', String(bps), '--valid-from', day] as const;

  it.each([
    ['rates', setRates],
    ['a price', agree],
  ])('%s of today is rejected with one sentence', async (_, command) => {
    expect(await dewi(...command(today(), 30))).toMatchObject({
      exitCode: 1,
      stderr: 'error: A rate must begin after today.\n',
    });
  });

  it.each([
    ['rates', setRates],
    ['a price', agree],
  ])('%s: two operators decide the very rows, and an older request is superseded', async (_, command) => {
    const before = await countRows(db);
    const [older, newer] = [await request(...command(tomorrow(), 30)), await request(...command(tomorrow(), 40))];
    expect(await dewi('approvals', 'approve', newer)).toMatchObject({ exitCode: 1 });
    expect(await countRows(db)).toBe(before);
    expect(await budi('approvals', 'approve', newer)).toMatchObject({ exitCode: 0, stderr: '' });
    const late = await budi('approvals', 'approve', older);
    expect(late).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('There are newer rates') });
    expect(await countRows(db)).toBe(before + 1);
  });

  it('the proposal is one request for all classes', async () => {
    const before = await countRows(db);
    const number = await request('fees', 'set', '--proposal', '--valid-from', tomorrow());
    expect(await budi('approvals', 'approve', number)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await countRows(db)).toBe(before + 8);
  });

  it('no merchant gets customers that pay the fee', async () => {
    const sentence =
      'The merchant bears the fee: Bank Indonesia forbids to pass the MDR on to customers ' +
      '(PBI 23/6/PBI/2021, article 52(1)).';
    const rejected = { exitCode: 1, stderr: `error: ${sentence}\n` };
    expect(await dewi('merchants', 'set', merchantId, '--fee-payer', 'buyer')).toMatchObject(rejected);
    expect(await dewi('merchants', 'create', '--name', 'Toko', '--fee-payer', 'buyer')).toMatchObject(rejected);
    const alone = createPool(await urlOfOperator(database, 'dewi'), { max: 1 });
    const insert =
      "insert into merchants (id, name, fee_payer) values ('01935b6c-7c00-7000-8000-00006c756e63', 'Toko', 'buyer')";
    await expect(alone.query(insert)).rejects.toMatchObject({ code: '23001' });
    await alone.end();
  });
});
