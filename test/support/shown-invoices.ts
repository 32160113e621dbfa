import { randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import type { Queryable } from '../../src/db/connection/pool';
import type { FeeInvoice, InvoiceParties } from '../../src/domain/fee-invoice';
import { listInvoicesOfMerchant } from '../../src/services/invoices/fee-invoices';
import { asSuperuser } from './backdate';
import { cutNow } from './invoices';
import type { TestService } from './service';

/** Who the invoices of `issueInvoice` are from and to. */
export const INVOICE_PARTIES: InvoiceParties = {
  company: { legalName: 'PT Lunas', address: 'Jl. Sudirman 1, Jakarta 12190', taxNumber: '012345678901234' },
  merchant: { legalName: 'CV Kopi Bersama', address: 'Jl. Braga 12, Bandung 40111', taxNumber: '1234567890123456' },
};

/** Issues the invoices of what was posted until now, and returns that of the merchant. */
export async function issueInvoice(
  { db, masterKey }: Pick<TestService, 'db' | 'masterKey'>,
  merchantId: string,
): Promise<FeeInvoice> {
  const { legalName, address, taxNumber } = INVOICE_PARTIES.company;
  await db.query(
    `insert into company_details (version, legal_name, address, tax_number) values (1, $1, $2, $3)
     on conflict do nothing`,
    [legalName, address, taxNumber],
  );
  const { rows: merchants } = await db.query<{ merchantId: string; id: string }>(
    'select id as "merchantId", gen_random_uuid() as id from merchants',
  );
  const parties = JSON.stringify(INVOICE_PARTIES);
  const sealer = createSealer(masterKey);
  const drafts = merchants.map(({ merchantId: owner, id }) => ({
    merchantId: owner,
    id,
    sealedParties: sealer.seal(parties, ['fee-invoice', id]),
  }));
  await cutNow(db);
  await db.query('select count_fee_lines(month, part, 1000000) from fee_periods where issued_at is null');
  await db.query(
    `select count(*) from (select month, part from fee_periods where issued_at is null) period,
       issue_fee_invoices(month, part, $1)`,
    [JSON.stringify(drafts)],
  );
  return newestInvoice(db, merchantId);
}

/** Gives back a part of an invoice, and returns the credit note. */
export async function creditInvoice(
  { db, masterKey }: Pick<TestService, 'db' | 'masterKey'>,
  { number, merchantId }: FeeInvoice,
  amounts: { readonly feeRupiah: number; readonly vatRupiah: number },
): Promise<FeeInvoice> {
  const id = randomUUID();
  const parties = createSealer(masterKey).seal(JSON.stringify(INVOICE_PARTIES), ['fee-invoice', id]);
  await db.query("select book_adjustment(gen_random_uuid(), $1, $2, $3, 'a test', 'cli:test', $4, $5)", [
    number,
    amounts.feeRupiah,
    amounts.vatRupiah,
    id,
    parties,
  ]);
  return newestInvoice(db, merchantId);
}

async function newestInvoice(db: Queryable, merchantId: string): Promise<FeeInvoice> {
  const [newest] = await listInvoicesOfMerchant(db, merchantId, { beforeSequence: null, limit: 1 });
  if (!newest) throw new Error(`Merchant ${merchantId} has no invoice: it has no posting with a fee.`);
  return newest;
}

/** An invoice of a payment and of a payout that were never made, for a merchant without postings. */
export async function insertInvoice(
  { db, masterKey }: Pick<TestService, 'db' | 'masterKey'>,
  merchantId: string,
): Promise<FeeInvoice> {
  const id = randomUUID();
  const rate = { class: 'UKE', basisPoints: 70, flatRupiah: 0, count: 1 };
  const lines = [
    { ...rate, kind: 'payment', turnoverRupiah: 9_900_000, feeRupiah: 69_300, vatRupiah: 6_867 },
    {
      kind: 'payout_returned_fee',
      class: null,
      basisPoints: 0,
      flatRupiah: 2_500,
      count: 1,
      turnoverRupiah: -500_000,
      feeRupiah: -2_500,
      vatRupiah: 0,
    },
  ];
  const sealed = createSealer(masterKey).seal(JSON.stringify(INVOICE_PARTIES), ['fee-invoice', id]);
  await asSuperuser(db, {
    text: `insert into fee_invoices (id, number, sequence, merchant_id, kind, month, part, from_posting_id,
        up_to_posting_id, fee_rupiah, vat_rupiah, lines, sealed_parties)
      values ($1, 'FI-2026-000001', 1, $2, 'invoice', '2026-10-01', 1, 0, 1, 66800, 6867, $3, $4)
      on conflict do nothing`,
    values: [id, merchantId, JSON.stringify(lines), sealed],
  });
  return newestInvoice(db, merchantId);
}

/** Seals the parties of a merchant's invoices that `fillMerchant` has written: their PDF needs them. */
export async function sealFilledInvoices(
  { db, masterKey }: Pick<TestService, 'db' | 'masterKey'>,
  merchantId: string,
): Promise<void> {
  const sealer = createSealer(masterKey);
  const invoices = await listInvoicesOfMerchant(db, merchantId, { beforeSequence: null, limit: 1_000 });
  const updates = invoices.map(({ id }) => ({
    text: 'update fee_invoices set sealed_parties = $2 where id = $1',
    values: [id, sealer.seal(JSON.stringify(INVOICE_PARTIES), ['fee-invoice', id])],
  }));
  await asSuperuser(db, ...updates);
}
