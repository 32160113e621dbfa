import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import { requireRow } from '../../db/connection/require-row';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { findInvoice } from './fee-invoices';
import { openInvoiceParties } from './invoice-parties';

interface OpenNeeds extends AuditDependencies {
  readonly sealer: Sealer;
}

/** Opens who an invoice is from and to, for its PDF. It changes nothing; the audit log has who read them. */
export const openInvoice = new Operation({
  name: 'invoice.open',
  operator: 'all',
  path: z.object({ number: z.string() }),
  input: z.object({}),
  rejections: {},
  messages: {},
  async load({ db }: OpenNeeds, _scope, { number }) {
    const invoice = await findInvoice(db, null, number);
    return requireRow(invoice === undefined ? [] : [invoice], 'invoice', number);
  },
  target: ({ subject: { number } }) => number,
  perform: async ({ needs, subject }) => done({ invoice: subject, parties: await openInvoiceParties(needs, subject) }),
});
