import { z } from 'zod';
import { parseTimestamp } from '../../snap/timestamp';

/** `10000.00`; a rupiah has no fraction. */
const rupiah = z
  .object({
    value: z.string().regex(/^\d{1,13}\.00$/),
    currency: z.literal('IDR'),
  })
  .transform(({ value }) => Number(value));

const reference = z.string().min(1).max(64);

export const inquiryResponseSchema = z.object({
  beneficiaryAccountName: z.string().trim().min(1).max(200),
  beneficiaryAccountNo: z.string().optional(),
});

export const transferResponseSchema = z.object({
  partnerReferenceNo: reference.optional(),
  referenceNo: reference.nullable().catch(null),
});

export const transferStatusSchema = z.object({
  originalPartnerReferenceNo: reference.optional(),
  originalReferenceNo: reference.nullable().catch(null),
  latestTransactionStatus: z.string().regex(/^\d\d$/),
  transactionStatusDesc: z.string().max(200).nullable().catch(null),
  amount: rupiah,
  beneficiaryAccountNo: z
    .string()
    .regex(/^\d{4,34}$/)
    .nullable()
    .catch(null),
  // Only displayed, so an invalid one does not invalidate the response.
  transactionDate: z.string().transform(parseTimestamp).optional().catch(undefined),
});

/** A status without a transfer has neither its amount nor its references. */
export const statusCodeSchema = z.object({ latestTransactionStatus: z.string() });

export const irisNotificationSchema = z.object({
  partner_reference_no: reference,
  reference_no: reference.nullable().catch(null),
  status: z.string().max(40).toLowerCase(),
  // Only compared with those of other notifications.
  error_code: z.unknown().optional(),
});

export const snapNotificationSchema = z.object({
  originalPartnerReferenceNo: reference,
  originalReferenceNo: reference.nullable().catch(null),
  latestTransactionStatus: z.string().max(4),
});
