import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import type { FeeInvoice, InvoiceParties, InvoiceParty } from '../../domain/fee-invoice';
import { parseJson } from '../../lib/parse-json';
import { findIdentityInForce, fullAddressOf, openIdentityDetails } from '../merchants/merchant-identity';
import type { CompanyDetails } from './company-details';

interface SealedParties {
  readonly db: Queryable;
  readonly sealer: Sealer;
}

const party = z.object({
  legalName: z.string(),
  address: z.string().nullable(),
  taxNumber: z.string().nullable(),
});
const partiesSchema = z.object({ company: party, merchant: party });

/** Opens who an invoice is from and to. */
export async function openInvoiceParties(
  { db, sealer }: SealedParties,
  { id }: Pick<FeeInvoice, 'id'>,
): Promise<InvoiceParties> {
  const { rows } = await db.query<{ sealed: string }>(
    'select sealed_parties as sealed from fee_invoices where id = $1',
    [id],
  );
  return partiesSchema.parse(parseJson(sealer.open(onlyRow(rows).sealed, ['fee-invoice', id])));
}

/** Seals who an invoice is from and to, for its row. */
export async function sealInvoiceParties(
  { db, sealer }: SealedParties,
  { id, merchantId }: Pick<FeeInvoice, 'id' | 'merchantId'>,
  { legalName, address, taxNumber }: CompanyDetails,
): Promise<string> {
  const parties: InvoiceParties = {
    company: { legalName, address, taxNumber },
    merchant: await readMerchantParty({ db, sealer }, merchantId),
  };
  return sealer.seal(JSON.stringify(parties), ['fee-invoice', id]);
}

/** The identity in force; without one only the name. */
async function readMerchantParty(needs: SealedParties, merchantId: string): Promise<InvoiceParty> {
  const identity = await findIdentityInForce(needs.db, merchantId);
  if (identity !== null) {
    const details = await openIdentityDetails(needs, identity);
    return { legalName: details.legalName, address: fullAddressOf(details), taxNumber: details.taxNumber };
  }
  const { rows } = await needs.db.query<{ name: string }>('select name from merchants where id = $1', [merchantId]);
  return { legalName: onlyRow(rows).name, address: null, taxNumber: null };
}
