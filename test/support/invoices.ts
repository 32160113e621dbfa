import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createSealer } from '../../src/crypto/sealing';
import type { Pool } from '../../src/db/connection/pool';
import type { FeeInvoice } from '../../src/domain/fee-invoice';
import { dayInWib } from '../../src/domain/wib';
import { insertCompany } from '../../src/services/invoices/company-details';
import { listInvoices } from '../../src/services/invoices/fee-invoices';
import { issueDueInvoices } from '../../src/services/invoices/issue-invoices';
import { newMasterKey } from './service';

/** What `lunas company set` reads. */
export const COMPANY = {
  legal_name: 'PT Lunas Indonesia',
  address: 'Jalan Dua 2, Jakarta',
  tax_number: '0123456789012345',
};

/** A file of the company, or with any other content, in the directory for temporary files. */
export async function companyFile(content: unknown = COMPANY): Promise<string> {
  const file = path.join(os.tmpdir(), `lunas-company-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** Sets the company, unless there is one. */
export async function ensureCompany(db: Pool): Promise<void> {
  const { legal_name: legalName, address, tax_number: taxNumber } = COMPANY;
  await insertCompany(db, { version: 1, legalName, address, taxNumber });
}

/** Cuts what was booked of this month until now, as only a sandbox can. */
export async function cutNow(db: Pool): Promise<void> {
  await db.query("select cut_fee_period(date_trunc('month', booking_day(now()))::date)");
}

/** Issues what was booked until now. @returns all invoices and credit notes, the newest first */
export async function issueNow(db: Pool, masterKey = newMasterKey()): Promise<FeeInvoice[]> {
  await ensureCompany(db);
  await cutNow(db);
  await issueDueInvoices({ db, sealer: createSealer(masterKey) }, dayInWib(new Date()));
  return listInvoices(db, { merchantId: null, month: null, limit: 1_000 });
}
