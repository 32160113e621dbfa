import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const ofInvoice = { code: merchantCode, number: z.string().regex(/^(FI|CN)-\d{4}-\d{6,9}$/) };

export const invoicesPath = pagePath('/m/:code/invoices', { code: merchantCode });
export const invoicePath = pagePath('/m/:code/invoices/:number', ofInvoice);
export const invoicePdfPath = pagePath('/m/:code/invoices/:number.pdf', ofInvoice);
export const invoiceCsvPath = pagePath('/m/:code/invoices/:number.csv', ofInvoice);
