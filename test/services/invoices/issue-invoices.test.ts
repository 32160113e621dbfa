import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { listRecordedCases } from '../../../src/db/operations/list-attention';
import type { FeeInvoice } from '../../../src/domain/fee-invoice';
import { dayInWib, monthBefore, monthInWib } from '../../../src/domain/wib';
import {
  findInvoice,
  listInvoicePostings,
  listInvoicesOfMerchant,
  type InvoicePosting,
} from '../../../src/services/invoices/fee-invoices';
import { openInvoiceParties } from '../../../src/services/invoices/invoice-parties';
import { issueDueInvoices } from '../../../src/services/invoices/issue-invoices';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { resealAll } from '../../../src/services/recovery/reseal';
import { runLunas } from '../../cli/run-lunas';
import { asSuperuser } from '../../support/backdate';
import { openGate } from '../../support/gate';
import { IDENTITY, identityFile } from '../../support/identity';
import { COMPANY, companyFile, cutNow, ensureCompany, issueNow } from '../../support/invoices';
import {
  addLines,
  applyPayout,
  createTestPayouts,
  FEE_RUPIAH,
  ofPayments,
  withNewMerchant,
  type TestPayouts,
} from '../../support/payouts';
import { setEnvironment, urlOfOperator } from '../../support/production';
import { newMasterKey } from '../../support/service';
import { applyTransitions } from '../ledger/transition-path';

/* The invoices of fees: a cut decides their postings, and their numbers have no gap. */

let payouts: TestPayouts;
let db: Pool;
let worker: Pool;
beforeEach(async () => {
  payouts = await createTestPayouts();
  ({ db } = payouts);
  worker = createPool(payouts.database.urlOf('lunas_local_worker'), { max: 20 });
});
afterEach(async () => {
  await worker.end();
  await payouts.close();
});

const AGREED = { source: 'agreed', class: 'UKE', basisPoints: 0, flatRupiah: 777, validFrom: '2025-01-01' } as const;
/** A payment of Rp 50,000 with a fee of Rp 777, of which VAT Rp 77. */
const WITH_VAT = {
  feeRupiah: 777,
  vatRupiah: 77,
  netRupiah: 49_223,
  feeTerms: { ...AGREED, vatBasisPoints: 1_100 },
} as const;
const FREE = { feeRupiah: 0, netRupiah: 50_000 } as const;

const pay = (of: TestPayouts, terms: Parameters<typeof applyTransitions>[2] = WITH_VAT) =>
  applyTransitions(ofPayments(of), ['issue', 'pay', 'settle'], { ...terms, merchantId: of.merchantId });

const issueDue = (by: Pool) =>
  issueDueInvoices({ db: by, sealer: createSealer(payouts.masterKey) }, dayInWib(new Date()));

/** What a process does that ends at any time. */
async function cutAndIssue(by: Pool): Promise<void> {
  await cutNow(by);
  await issueDue(by);
}

async function expectComplete(invoices: readonly FeeInvoice[]): Promise<void> {
  expect(invoices.map(({ sequence }) => sequence).toReversed()).toEqual(invoices.map((_, index) => index + 1));
  const ofPeriods = invoices.filter(({ kind }) => kind === 'invoice');
  const keys = ofPeriods.map(({ merchantId, month, part }) => `${merchantId} ${month} ${part}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect((await verifyLedger(db, { all: true })).breaks).toEqual([]);
}

const lunas = (...args: readonly string[]) =>
  runLunas([...args, '--json'], {
    DATABASE_URL: payouts.database.urlOf('lunas_local_operator'),
    LUNAS_MASTER_KEY: payouts.masterKey,
  });

const linesOf = (invoice: FeeInvoice | undefined) =>
  (invoice?.lines ?? []).map(({ kind, count, turnoverRupiah, feeRupiah, vatRupiah }) => [
    kind,
    count,
    turnoverRupiah,
    feeRupiah,
    vatRupiah,
  ]);

it('an invoice has every posting with a fee, also of zero, and what was given back', async () => {
  await pay(payouts);
  await pay(payouts);
  await pay(payouts, FREE);
  await applyPayout(payouts, ['approve', 'submit', 'fail', 'complete_failed']);
  const [invoice, ...others] = await issueNow(db, payouts.masterKey);
  expect(others).toEqual([]);
  const sent = 148_446 - FEE_RUPIAH;
  expect(invoice).toMatchObject({
    number: expect.stringMatching(/^FI-\d{4}-000001$/),
    kind: 'invoice',
    merchantId: payouts.merchantId,
    month: monthInWib(new Date()),
    feeRupiah: 1_554 + FEE_RUPIAH,
    vatRupiah: 154,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(linesOf(invoice)).toEqual([
    ['payment', 2, 100_000, 1_554, 154],
    ['payment', 1, 50_000, 0, 0],
    ['payout', 1, sent, FEE_RUPIAH, 0],
    ['payout_conflict', 1, sent, FEE_RUPIAH, 0],
    ['payout_returned_fee', 1, -sent, -FEE_RUPIAH, 0],
  ]);
  if (!invoice) throw new Error('There is no invoice');
  const postings: InvoicePosting[] = [];
  for await (const posting of listInvoicePostings(db, invoice)) postings.push(posting);
  expect(postings.map(({ kind }) => kind).join(' ')).toBe(
    'payment payment payment payout payout_returned_fee payout_conflict',
  );
  expect(postings.reduce((sum, { feeRupiah }) => sum + feeRupiah, 0)).toBe(invoice.feeRupiah);
  const sealer = createSealer(payouts.masterKey);
  expect(await openInvoiceParties({ db, sealer }, invoice)).toEqual({
    company: { legalName: COMPANY.legal_name, address: COMPANY.address, taxNumber: COMPANY.tax_number },
    merchant: { legalName: 'Toko', address: null, taxNumber: null },
  });
  await expectComplete([invoice]);
});

it('an invoice is to the identity in force, with its whole address', async () => {
  const { merchantId, masterKey } = payouts;
  await lunas('merchants', 'identify', merchantId, '--file', await identityFile(IDENTITY));
  await pay(payouts);
  const [invoice] = await issueNow(db, masterKey);
  const parties = invoice && (await openInvoiceParties({ db, sealer: createSealer(masterKey) }, invoice));
  expect(parties?.merchant).toEqual({
    legalName: IDENTITY.legal_name,
    address: 'Jalan Satu 1, Coblong, Dago, Bandung, 40111',
    taxNumber: IDENTITY.tax_number,
  });
});

it('the postings of an invoice are found without those of other merchants', async () => {
  const other = await withNewMerchant(payouts);
  await pay(payouts);
  await asSuperuser(
    db,
    {
      text: `insert into ledger_postings (payment_id, payment_version, merchant_id, occurred_at)
        select gen_random_uuid(), 3, $1, now() from generate_series(1, 20000)`,
      values: [other.merchantId],
    },
    'analyze ledger_postings',
  );
  await pay(payouts);
  const [invoice] = await issueNow(db, payouts.masterKey);
  if (!invoice) throw new Error('There is no invoice');
  const client = await worker.connect();
  await client.query('begin');
  const postings: InvoicePosting[] = [];
  for await (const posting of listInvoicePostings(client, invoice)) postings.push(posting);
  const { rows } = await client.query<{ read: number }>(
    `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
     where relname = 'ledger_postings'`,
  );
  await client.query('rollback');
  client.release();
  expect(postings).toHaveLength(2);
  expect(Number(rows[0]?.read)).toBeLessThan(50);
});

it('20 concurrent issues number the invoices of 5 merchants from 1 to 5', async () => {
  const merchants = [payouts];
  for (let n = 1; n < 5; n += 1) merchants.push(await withNewMerchant(payouts));
  for (const own of merchants) await pay(own);
  await ensureCompany(db);
  await cutNow(db);
  await Promise.all(Array.from({ length: 20 }, () => issueDue(worker)));
  const invoices = await issueNow(db, payouts.masterKey);
  expect(invoices).toHaveLength(5);
  const ofMerchants = invoices.map(({ merchantId }) => merchantId).toReversed();
  expect(ofMerchants).toEqual(ofMerchants.toSorted());
  await expectComplete(invoices);
});

it('20 processes that end in the middle leave no gap: the next one issues what is missing', async () => {
  await ensureCompany(db);
  const other = await withNewMerchant(payouts);
  const points = [
    ['fee_periods', 'before insert'],
    ['fee_period_lines', 'before insert'],
    ['fee_invoices', 'before insert'],
    ['fee_invoices', 'after insert'],
    ['fee_periods', 'before update'],
  ] as const;
  for (let kill = 0; kill < 20; kill += 1) {
    await pay(kill % 3 === 0 ? other : payouts);
    const gate = await openGate(db);
    const [table, time] = points[kill % points.length] ?? points[0];
    await gate.closeAt(table, time);
    const ended = cutAndIssue(worker).catch((error: unknown) => error);
    const [pid] = await gate.waiting(1);
    await db.query('select pg_terminate_backend($1)', [pid]);
    expect(await ended).toBeInstanceOf(Error);
    await gate.remove();
    if (kill % 5 === 4) await issueDue(worker);
  }
  await issueDue(worker);
  await issueNow(db, payouts.masterKey);
  const { rowCount } = await db.query('select from fee_periods where issued_at is null');
  expect(rowCount).toBe(0);
  const invoices = await listInvoicesOfMerchant(db, payouts.merchantId, { beforeSequence: null, limit: 100 });
  const others = await listInvoicesOfMerchant(db, other.merchantId, { beforeSequence: null, limit: 100 });
  await expectComplete([...invoices, ...others].toSorted((one, two) => two.sequence - one.sequence));
  const counts = [...invoices, ...others].flatMap(({ lines }) => lines.map(({ count }) => count));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20);
});

it('a period counted posting by posting, by two callers at a time, has the lines of all of them', async () => {
  await ensureCompany(db);
  for (let count = 0; count < 3; count += 1) await pay(payouts);
  await cutNow(db);
  const countOne = async () => {
    const { rows } = await db.query(
      'select count_fee_lines(month, part, 1) as "isCounted" from fee_periods where issued_at is null',
    );
    return Boolean(rows[0]?.isCounted);
  };
  let isCounted = false;
  while (!isCounted) isCounted = (await Promise.all([countOne(), countOne()])).every(Boolean);
  await issueDue(worker);
  const [invoice] = await listInvoicesOfMerchant(db, payouts.merchantId, { beforeSequence: null, limit: 1 });
  expect(linesOf(invoice)).toEqual([['payment', 3, 150_000, 2_331, 231]]);
  expect((await db.query('select from fee_period_lines')).rowCount).toBe(0);
});

it('nothing is booked into a cut: a posting in flight holds the cut back', async () => {
  await pay(payouts);
  const gate = await openGate(db);
  await gate.closeAt('ledger_entries', 'before insert');
  const paying = pay(payouts);
  await gate.waiting(1);
  await expect(cutNow(worker)).rejects.toMatchObject({ code: '55P03' });
  await gate.open();
  await paying;
  await gate.remove();
  const [invoice] = await issueNow(db, payouts.masterKey);
  expect(linesOf(invoice)).toEqual([['payment', 2, 100_000, 1_554, 154]]);
});

it('a cut without an issue is a case, and so is a missing company; the next close of days ends both', async () => {
  await pay(payouts);
  await cutNow(db);
  await issueDue(worker);
  const cases = async () => (await listRecordedCases(db, 10)).map(({ kind, subject }) => [kind, subject]);
  expect(await cases()).toEqual([['company_missing', null]]);
  expect((await lunas('invoices', 'issue')).stderr).toMatch(/The company has no details/);
  await ensureCompany(db);
  expect(await cases()).toEqual([['invoices_not_issued', monthInWib(new Date())]]);
  await issueDue(worker);
  expect(await cases()).toEqual([]);
  expect((await db.query('select from fee_invoices')).rowCount).toBe(1);
});

it('the last month is cut once, on the first close of days after its end', async () => {
  await ensureCompany(db);
  await pay(payouts);
  const last = monthBefore(monthInWib(new Date()));
  // As if the installation were a month older.
  await asSuperuser(
    db,
    "update fee_periods set month = month - interval '1 month', cut_at = now() - interval '1 month'",
  );
  await issueDue(worker);
  await pay(payouts);
  await issueDue(worker);
  const invoices = await listInvoicesOfMerchant(db, payouts.merchantId, { beforeSequence: null, limit: 10 });
  expect(invoices.map(({ month, part }) => [month, part])).toEqual([[last, 1]]);
  expect(linesOf(invoices[0])).toEqual([['payment', 1, 50_000, 777, 77]]);
});

it('`lunas invoices` issues, lists and shows; bad input is one sentence, and writes nothing', async () => {
  await ensureCompany(db);
  await pay(payouts);
  const month = monthInWib(new Date());
  const rejected = async (...args: readonly string[]) => (await lunas('invoices', ...args)).stderr;
  expect(await rejected('issue', '--month', month)).toContain(`Month ${month} is not over.`);
  expect(await rejected('issue', '--month', '2020-01')).toContain(
    'Month 2020-01 has no invoices of its own: what was not invoiced then is in those of a later month.',
  );
  expect(await rejected('issue', '--month', '2026-13')).toContain('must be a month such as 2026-11');
  expect(await rejected('issue', '--month', month, '--now')).toContain('needs --month or --now, not both');
  expect(await rejected('show', 'FI-2026-000009')).toContain('There is no invoice FI-2026-000009');
  await setEnvironment(db, 'production');
  await expect(cutNow(worker)).rejects.toThrow('is not over');
  await setEnvironment(db, 'sandbox');
  expect((await db.query('select from fee_periods')).rowCount).toBe(1);

  const { invoices } = JSON.parse((await lunas('invoices', 'issue', '--now')).stdout);
  expect(invoices).toMatchObject([{ merchant_id: payouts.merchantId, month, fee_amount: 777, vat_amount: 77 }]);
  const [{ number }] = invoices;
  expect(JSON.parse((await lunas('invoices', 'issue')).stdout)).toEqual({ invoices: [] });
  expect(JSON.parse((await lunas('invoices', 'list', '--month', month)).stdout)).toEqual({ invoices });
  expect(JSON.parse((await lunas('invoices', 'show', number)).stdout)).toEqual({ invoice: invoices[0] });
  expect(await findInvoice(db, (await withNewMerchant(payouts)).merchantId, number)).toBeUndefined();
});

it('`lunas company set` names each key that breaks a rule; the newest version counts', async () => {
  const set = async (content: unknown) => lunas('company', 'set', '--file', await companyFile(content));
  const { tax_number: _, ...incomplete } = COMPANY;
  expect(await set({ ...incomplete, name: 'x' })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/Unknown key: name\.\ntax_number is missing\./),
  });
  expect(JSON.parse((await lunas('company', 'show')).stdout)).toEqual({ company: null });
  expect(await set(COMPANY)).toMatchObject({ exitCode: 0 });
  expect(await set({ ...COMPANY, address: 'Jalan Tiga 3' })).toMatchObject({ exitCode: 0 });
  const { company } = JSON.parse((await lunas('company', 'show')).stdout);
  expect(company).toMatchObject({ ...COMPANY, address: 'Jalan Tiga 3', version: 2 });
});

it('a credit note gives back at most what is left, and the available balance grows', async () => {
  await pay(payouts);
  const [invoice] = await issueNow(db, payouts.masterKey);
  const number = invoice?.number ?? '';
  const credit = (...args: readonly string[]) => lunas('invoices', 'credit', number, ...args, '--note', 'case 1');
  expect((await credit('--fee', '778')).stderr).toContain(`${number} has Rp 777 left.`);
  const ofPart = `Rp 750 of ${number} have VAT from Rp 50 to Rp 77.`;
  expect((await credit('--fee', '750', '--vat', '78')).stderr).toContain(ofPart);
  expect((await credit('--fee', '750', '--vat', '49')).stderr).toContain(ofPart);
  expect(await lunas('invoices', 'credit', number, '--fee', '1')).toMatchObject({ exitCode: 2 });
  const first = JSON.parse((await credit('--fee', '100')).stdout);
  expect(first.invoices).toMatchObject([
    { kind: 'credit_note', corrects: number, fee_amount: -100, vat_amount: -9, lines: [] },
  ]);
  expect(first.invoices[0].number).toMatch(/^CN-\d{4}-000002$/);
  expect((await credit('--fee', '678')).stderr).toContain(`${number} has Rp 677 left.`);
  expect(JSON.parse((await credit('--fee', '677')).stdout).invoices).toMatchObject([{ vat_amount: -68 }]);
  expect((await lunas('invoices', 'credit', first.invoices[0].number, '--fee', '1', '--note', 'x')).stderr).toContain(
    'is a credit note',
  );
  const { rows } = await db.query(`select kind, amount_rupiah as amount from balance_transactions order by posting_id`);
  expect(rows).toEqual([
    { kind: 'settlement', amount: 49_223 },
    { kind: 'fee_credit', amount: 100 },
    { kind: 'fee_credit', amount: 677 },
  ]);
  await expectComplete(await issueNow(db, payouts.masterKey));
  const { balances } = await verifyLedger(db, { all: true });
  const owed = balances.filter(({ account }) => account === 'fee_revenue' || account === 'vat_payable');
  expect(owed.map(({ balanceRupiah }) => balanceRupiah)).toEqual([0, 0]);
});

it('`lunas ledger verify` finds an invoice that is missing', async () => {
  await pay(payouts);
  await issueNow(db, payouts.masterKey);
  await asSuperuser(db, 'delete from fee_invoices');
  expect((await verifyLedger(db, { all: true })).breaks).toMatchObject([
    { kind: 'invoice_sum', detail: expect.stringContaining('fee_revenue has Rp 700 more than its invoices') },
    { kind: 'invoice_sum', detail: expect.stringContaining('vat_payable has Rp 77 more than its invoices') },
  ]);
});

it('an invoice never changes, and its parties are sealed again with the next master key', async () => {
  await pay(payouts);
  const [invoice] = await issueNow(db, payouts.masterKey);
  for (const change of ['fee_rupiah = 0', "number = 'FI-2026-000002'", "lines = '[]'", "sealed_parties = 'v1.x.y'"]) {
    await expect(db.query(`update fee_invoices set ${change}`)).rejects.toMatchObject({ code: '23001' });
  }
  await expect(db.query('delete from fee_invoices')).rejects.toMatchObject({ code: '23001' });
  await expect(db.query('update fee_periods set issued_at = null')).rejects.toMatchObject({ code: '23001' });
  await expect(
    db.query(
      `insert into fee_invoices (id, number, sequence, merchant_id, kind, month, part, from_posting_id,
         up_to_posting_id, fee_rupiah, vat_rupiah, lines, sealed_parties)
       select gen_random_uuid(), 'FI-2026-000003', 3, merchant_id, kind, month, 9, from_posting_id, up_to_posting_id,
         fee_rupiah, vat_rupiah, lines, sealed_parties from fee_invoices`,
    ),
  ).rejects.toThrow('is not the next one');
  const next = createSealer(newMasterKey(), [payouts.masterKey]);
  const resealed = await resealInvoices(next);
  expect(resealed).toBe(1);
  if (!invoice) throw new Error('There is no invoice');
  expect(await openInvoiceParties({ db, sealer: next }, invoice)).toMatchObject({ merchant: { legalName: 'Toko' } });
  expect(await findInvoice(db, payouts.merchantId, invoice.number)).toEqual(invoice);
});

/** @returns how many parties were sealed again */
async function resealInvoices(sealer: ReturnType<typeof createSealer>): Promise<number | undefined> {
  // The keys of these accounts are no sealed values.
  const sealed = sealer.seal('x', ['totp', 'x']);
  await asSuperuser(db, {
    text: `update provider_accounts set sealed_server_key = $1,
      sealed_credentials = case when sealed_credentials is not null then $1 end`,
    values: [sealed],
  });
  const tables = await resealAll(db, sealer, () => undefined);
  return tables.find(({ table }) => table === 'fee_invoices')?.resealed;
}

it('a payment that is not invoiced is not archived', async () => {
  await addLines(payouts, [50_000]);
  await asSuperuser(
    db,
    "update payments set updated_at = now() - interval '10 days'",
    "update payment_transitions set recorded_at = now() - interval '10 days'",
    "update webhook_events set occurred_at = now() - interval '10 days'",
  );
  await verifyLedger(db, { all: true });
  const count = async () => (await db.query('select from archivable_payments')).rowCount;
  expect(await count()).toBe(0);
  await issueNow(db, payouts.masterKey);
  expect(await count()).toBe(1);
});

it('in production one operator puts no company and no credit note in force, and cuts no month early', async () => {
  await pay(payouts);
  const [invoice] = await issueNow(db, payouts.masterKey);
  const eve = createPool(await urlOfOperator(payouts.database, 'eve'), { max: 1 });
  await setEnvironment(db, 'production');
  const number = invoice?.number ?? '';
  const credit = `select book_adjustment(gen_random_uuid(), '${number}', 1, 0, 'x', 'x', gen_random_uuid(), 'x')`;
  const company = `insert into company_details (version, legal_name, address, tax_number)
    values (2, 'PT Eve', 'x', '0123456789012345')`;
  for (const statement of [credit, company]) {
    await expect(eve.query(statement)).rejects.toMatchObject({ code: '23001' });
  }
  await expect(cutNow(eve)).rejects.toThrow('is not over');
  await eve.end();
  expect((await db.query('select from fee_invoices')).rowCount).toBe(1);
});

it('no operator makes an invoice differ from the ledger by a statement of their own', async () => {
  await ensureCompany(db);
  await asSuperuser(db, "update fee_periods set month = month - interval '2 months'");
  await pay(payouts);
  const eve = createPool(await urlOfOperator(payouts.database, 'eve'), { max: 1 });
  // The cut that follows is not in this snapshot.
  await eve.query('begin isolation level repeatable read');
  await eve.query('select from fee_periods');
  await issueDue(worker);
  const beforeLast = "select cut_fee_period((date_trunc('month', booking_day(now())) - interval '2 months')::date)";
  await expect(eve.query(beforeLast)).rejects.toMatchObject({ code: '25001' });
  await eve.query('rollback');

  await pay(payouts);
  await cutNow(db);
  const count = (postings: number) =>
    eve.query(`select count_fee_lines(month, part, ${postings}) from fee_periods where issued_at is null`);
  await count(100);
  await expect(count(-100)).rejects.toMatchObject({ code: '22023' });
  await count(100);
  await eve.end();
  await expectComplete(await issueNow(db, payouts.masterKey));
});
