import { z } from 'zod';
import { absentOr, digits, optional, reference, rupiah, shown, statusWord, time } from '../../lib/fields';

const id = reference(64);

const amount = z.object({
  value: rupiah,
  // Another currency is not a transfer of ours.
  currency: absentOr(statusWord({ idr: 'IDR' })),
});

/** Null: the bank does not repeat it, or in a form that is no number. */
const accountNumber = optional(digits(4, 34));

export const inquiryResponseSchema = z.object({
  beneficiaryAccountName: shown(200),
  beneficiaryAccountNo: accountNumber,
});

export const transferResponseSchema = z.object({
  partnerReferenceNo: absentOr(id),
  referenceNo: optional(id),
});

/** A status without a transfer has neither its amount nor its references. */
export const statusCodeSchema = z.object({ latestTransactionStatus: digits(2) });

export const transferStatusSchema = z.object({
  originalPartnerReferenceNo: absentOr(id),
  originalReferenceNo: optional(id),
  transactionStatusDesc: shown(200),
  amount,
  beneficiaryAccountNo: accountNumber,
  transactionDate: optional(time),
});

/** The bank signs it. The status only triggers a query and deduplicates, so any is accepted. */
export const irisNotificationSchema = z.object({
  partner_reference_no: id,
  reference_no: optional(id),
  status: shown(40),
  // Only compared with those of other notifications.
  error_code: z.unknown().optional(),
});

export const snapNotificationSchema = z.object({
  originalPartnerReferenceNo: id,
  originalReferenceNo: optional(id),
  latestTransactionStatus: optional(digits(2)),
});
