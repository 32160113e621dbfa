import { mkdtemp, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSealer } from '../../../src/crypto/sealing';
import type { FeeInvoice } from '../../../src/domain/fee-invoice';
import { feeOf, vatOf, type FeeTerms } from '../../../src/domain/fees';
import { listActions } from '../../../src/services/audit/list-actions';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { runLunas } from '../../cli/run-lunas';
import { applyTransitions } from '../../services/ledger/transition-path';
import { asSuperuser } from '../../support/backdate';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { newTerms, type TestLedger } from '../../support/payments';
import { readPdfText } from '../../support/pdf';
import { createMember, createShop } from '../../support/people';
import { startReceiver, verifySignature, type Receiver } from '../../support/receiver';
import { insertCatalog } from '../../support/seed-payments';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../../support/service';
import { creditInvoice, INVOICE_PARTIES, issueInvoice } from '../../support/shown-invoices';
import { registerEndpoint } from '../../support/webhooks';

const RATE: FeeTerms = {
  source: 'class',
  class: 'UKE',
  basisPoints: 70,
  flatRupiah: 0,
  validFrom: '2026-01-01',
  vatBasisPoints: 1_100,
};
/** The fees are Rp 350, Rp 700 and Rp 0. */
const AMOUNTS = [50_000, 100_000, 100] as const;
/** A text that a spreadsheet would compute. */
const ORDER = '=1+1';
const CREDIT = { feeRupiah: 111, vatRupiah: 11 } as const;

let service: TestService;
let dashboard: TestDashboard;
let catalog: Awaited<ReturnType<typeof insertCatalog>>;
let home: string;
let invoice: FeeInvoice;
let creditNote: FeeInvoice;
/** That of another merchant. */
let foreign: FeeInvoice;
/** The merchant's server. */
let receiver: Receiver;
let secret: string;
let cookies: Readonly<Record<'en' | 'id' | 'developer', string>>;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  const { db } = service;
  catalog = await insertCatalog(db);
  const [own, other] = [await createShop(db, 'Toko'), await createShop(db, 'Lain')];
  home = `/m/${own.code}`;
  for (const amountRupiah of AMOUNTS) await pay(own, amountRupiah);
  await pay(other, 1_000_000);
  receiver = await startReceiver();
  const endpoint = { merchantId: own.id, url: receiver.url, events: ['invoice.issued'] } as const;
  ({ secret } = await registerEndpoint(db, createSealer(service.masterKey), endpoint));
  foreign = await issueInvoice(service, other.id);
  invoice = await issueInvoice(service, own.id);
  creditNote = await creditInvoice(service, invoice, CREDIT);
  cookies = {
    en: await memberOf(own, 'finance', 'en'),
    id: await memberOf(own, 'viewer', 'id'),
    developer: await memberOf(own, 'developer', 'en'),
  };
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
  await receiver.close();
});

async function memberOf(
  { id }: Merchant,
  role: 'finance' | 'viewer' | 'developer',
  language: 'en' | 'id',
): Promise<string> {
  const email = `${role}@shop.test`;
  const userId = await createMember(service.db, email, [[id, role]]);
  await service.db.query('update users set language = $2 where id = $1', [userId, language]);
  return dashboard.cookie(email);
}

async function pay({ id: merchantId }: Merchant, amountRupiah: number): Promise<void> {
  const { db } = service;
  const [policyId, providerAccountId] = catalog;
  const feeRupiah = feeOf(amountRupiah, RATE);
  const vatRupiah = vatOf(feeRupiah, RATE);
  const amounts = {
    amountRupiah,
    feeRupiah,
    vatRupiah,
    totalRupiah: amountRupiah,
    netRupiah: amountRupiah - feeRupiah,
  };
  const terms = { merchantId, policyId, providerAccountId, merchantReferenceId: ORDER, feeTerms: RATE, ...amounts };
  const ledger: TestLedger = {
    db,
    merchantId,
    context: { db, environment: 'sandbox', onDeliveries: () => undefined },
    newTerms: () => newTerms(terms),
    close: () => Promise.resolve(),
  };
  await applyTransitions(ledger, ['issue', 'pay']);
}

const request = (path: string, cookie = cookies.en) =>
  fetch(`${dashboard.url}${path}`, { headers: { cookie }, redirect: 'manual' });

async function textOf(path: string, cookie = cookies.en): Promise<string> {
  const html = await (await request(path, cookie)).text();
  return html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
}

const rupiah = (amount: number) => `Rp ${String(amount).replace(/\B(?=(\d{3})+$)/g, '.')}`;

it.each([
  ['en', 'Fee invoice', ['Payments', 'Small (UKE)', '0.7 %', 'Total including VAT'], 'Download PDF'],
  ['id', 'Faktur biaya', ['Pembayaran', 'Kecil (UKE)', '0,7 %', 'Total termasuk PPN'], 'Unduh PDF'],
] as const)(
  'in %s: the list leads to the page, which shows what the invoice has',
  async (language, kind, words, pdf) => {
    const { number, feeRupiah, vatRupiah, sha256 } = invoice;
    const list = await textOf(`${home}/invoices`, cookies[language]);
    expect(list).toContain(`${creditNote.number} `);
    expect(list).toContain(`${number} ${kind}`);
    const text = await textOf(`${home}/invoices/${number}`, cookies[language]);
    for (const shown of [`${kind} ${number}`, ...words, pdf, rupiah(150_100), sha256]) expect(text).toContain(shown);
    expect([feeRupiah, vatRupiah]).toEqual([1_050, 103]);
    for (const amount of [feeRupiah, vatRupiah, feeRupiah - vatRupiah]) expect(text).toContain(rupiah(amount));
    for (const line of ['Dokumen ini bukan faktur pajak.', 'This is not a tax invoice (faktur pajak).']) {
      expect(text).toContain(line);
    }
  },
);

it('the balance leads to the invoices, and each page of the list to the older ones', async () => {
  expect(await (await request(`${home}/balance`)).text()).toContain(`href="${home}/invoices"`);
  const older = await textOf(`${home}/invoices?older=${creditNote.sequence}`);
  expect(older).toContain(invoice.number);
  expect(older).not.toContain(creditNote.number);
  for (const impossible of ['x', '99999999999']) {
    expect(await textOf(`${home}/invoices?older=${impossible}`)).toContain(creditNote.number);
  }
});

it.each([
  ['en', 'Fee invoice'],
  ['id', 'Faktur biaya'],
] as const)(
  'the PDF in %s has the parties, the amounts and the SHA-256, and the same bytes twice',
  async (language, kind) => {
    const { number, feeRupiah, sha256 } = invoice;
    const read = async () => {
      const response = await request(`${home}/invoices/${number}.pdf`, cookies[language]);
      expect(response.headers.get('content-type')).toBe('application/pdf');
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${number}.pdf"`);
      return Buffer.from(await response.arrayBuffer());
    };
    const file = await read();
    expect((await read()).equals(file)).toBe(true);
    const lines = readPdfText(file).split('\n');
    const { company, merchant } = INVOICE_PARTIES;
    for (const line of [kind, number, company.legalName, merchant.legalName, rupiah(feeRupiah)]) {
      expect(lines).toContain(line);
    }
    expect(lines).toContain(`${number} \u00b7 SHA-256 ${sha256}`);
  },
);

/** The rows of a CSV without its head. */
async function csvOf({ number }: FeeInvoice): Promise<string[][]> {
  const response = await request(`${home}/invoices/${number}.csv`);
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${number}.csv"`);
  const [head, ...rows] = (await response.text()).trimEnd().split('\r\n');
  expect(head).toBe('occurred_at,kind,reference,merchant_reference_id,amount,fee_amount,vat_amount');
  return rows.map((row) => row.split(','));
}

const sumOf = (rows: readonly (readonly string[])[], column: number) =>
  rows.reduce((sum, row) => sum + Number(row[column]), 0);

it('the CSV has each payment, its fees add up to the invoice, and the export is recorded', async () => {
  const rows = await csvOf(invoice);
  expect(rows.map(([, kind, , order, amount]) => [kind, order, amount])).toEqual(
    AMOUNTS.map((amount) => ['payment', `'${ORDER}`, String(amount)]),
  );
  expect([sumOf(rows, 5), sumOf(rows, 6)]).toEqual([invoice.feeRupiah, invoice.vatRupiah]);
  const recorded = await eventually(
    () =>
      service.db.query(
        `select target, outcome from user_actions join user_action_outcomes on action_id = id
         where action = 'invoice.export'`,
      ),
    (result) => result.rows.length > 0,
  );
  expect(recorded.rows).toEqual([{ target: invoice.number, outcome: 'succeeded' }]);
});

it('a credit note is below zero, and leads to its invoice', async () => {
  const { number } = creditNote;
  const html = await (await request(`${home}/invoices/${number}`)).text();
  expect(html).toContain(`href="${home}/invoices/${invoice.number}"`);
  expect(await textOf(`${home}/invoices/${number}`)).toContain('−Rp 111');
  const pdf = readPdfText(Buffer.from(await (await request(`${home}/invoices/${number}.pdf`)).arrayBuffer()));
  for (const shown of ['Credit note', invoice.number, '-Rp 111', '-Rp 11', '-Rp 100']) expect(pdf).toContain(shown);
  const rows = await csvOf(creditNote);
  expect(rows.map(([, ...cells]) => cells)).toEqual([['credit_note', number, '', '', '-111', '-11']]);
});

it.each(['', '.pdf', '.csv'])(
  'the address of an invoice with the ending "%s": 404 of another merchant',
  async (ending) => {
    for (const unknown of [foreign.number, 'FI-2026-999999', 'FI-1', 'x']) {
      expect((await request(`${home}/invoices/${unknown}${ending}`)).status).toBe(404);
    }
    expect((await request(`${home}/invoices/${invoice.number}${ending}`, cookies.developer)).status).toBe(403);
    expect((await request(`${home}/invoices/${invoice.number}${ending}`, '')).status).toBe(303);
  },
);

it('an endpoint receives the invoice and the credit note once, signed; the dashboard sends one again', async () => {
  await receiver.waitFor(2);
  const sent = receiver.received.map((webhook) => [webhook.body.number, verifySignature(webhook, secret)]);
  const numbers = [invoice.number, creditNote.number];
  expect(Object.fromEntries(sent)).toEqual(Object.fromEntries(numbers.map((number) => [number, true])));
  const first = receiver.received.find(({ body }) => body.number === creditNote.number);
  const deliveries = `${home}/developers/deliveries`;
  const list = await textOf(deliveries, cookies.developer);
  for (const number of numbers) expect(list).toContain(number);
  const id = String(first?.headers['x-service-delivery']);
  const form = { method: 'POST', body: new URLSearchParams(), redirect: 'manual' } as const;
  const headers = { cookie: cookies.developer, 'sec-fetch-site': 'same-origin' };
  const redelivered = await eventually(
    () => fetch(`${dashboard.url}${deliveries}/${id}/redeliver`, { ...form, headers }),
    ({ status }) => status === 303,
  );
  expect(redelivered.headers.get('location')).toBe(`${deliveries}/${id}?done=redelivered`);
  await receiver.waitFor(3);
  const again = receiver.received[2];
  expect([again?.headers['x-service-delivery'], again?.rawBody]).toEqual([id, first?.rawBody]);
  expect(await textOf(`${deliveries}/${id}`, cookies.developer)).toContain(creditNote.number);
});

it('the list has no invoice of another merchant, and needs the right to view the balance', async () => {
  expect(await textOf(`${home}/invoices`)).not.toContain(foreign.number);
  expect((await request(`${home}/invoices`, cookies.developer)).status).toBe(403);
});

it('the command writes the same PDF and CSV as the dashboard, and the audit log has who wrote the PDF', async () => {
  const { number } = invoice;
  const file = path.join(await mkdtemp(path.join(os.tmpdir(), 'lunas-invoice-')), 'invoice.pdf');
  const show = (...args: readonly string[]) =>
    runLunas(['invoices', 'show', number, ...args], operatorEnvironment(service));
  expect(await show('--pdf', file, '--note', 'case 4711')).toMatchObject({ exitCode: 0, stderr: '' });
  const pdf = await request(`${home}/invoices/${number}.pdf`, cookies.id);
  expect((await readFile(file)).equals(Buffer.from(await pdf.arrayBuffer()))).toBe(true);
  const [reading] = await listActions(service.db, { limit: 1 });
  expect(reading).toMatchObject({ action: 'invoice.open', target: number, note: 'case 4711' });
  const csv = await (await request(`${home}/invoices/${number}.csv`)).arrayBuffer();
  expect(Buffer.from((await show('--csv')).stdout).equals(Buffer.from(csv))).toBe(true);
  expect(await show('--csv', '--pdf', file)).toMatchObject({ exitCode: 2 });
  expect(await show('--pdf', path.join(file, 'impossible'))).toMatchObject({ exitCode: 1 });
});

it('the CSV ends with a line about the archive if it has taken postings of the invoice', async () => {
  await asSuperuser(service.db, {
    text: `delete from ledger_postings where id = (select max(posting_id) from fee_postings where merchant_id = $1)`,
    values: [invoice.merchantId],
  });
  const rows = await csvOf(invoice);
  expect(rows).toHaveLength(AMOUNTS.length);
  expect(rows.at(-1)).toEqual(['Archived: ask Lunas for the file']);
});
