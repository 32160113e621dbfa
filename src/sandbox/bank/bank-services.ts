import { z } from 'zod';
import { failedCheck, type CheckedRequest } from '../snap/check-request';
import type { FacadeResponse } from '../snap/snap-response';
import type { Bank } from './bank';
import { formatWib, renderAmount, STATUS_CODES } from './bank-format';
import { behaviourOf, DEFAULT_HOLDER_NAME } from './magic-accounts';
import type { Transfer } from './transfer-records';

const bankCode = z.string().regex(/^\d{3}$/);
const accountNumber = z.string().regex(/^\d{5,20}$/);
const reference = z.string().regex(/^[A-Za-z0-9._~-]{1,64}$/);
const timestamp = z.iso.datetime({ offset: true });
/** A rupiah has no fraction. */
const amount = z.object({ value: z.string().regex(/^[1-9]\d{0,12}\.00$/), currency: z.literal('IDR') });

const inquirySchema = z.object({ beneficiaryBankCode: bankCode, beneficiaryAccountNo: accountNumber });

/** Midtrans, "Error mapping": other characters are 400xx01. */
const PLAIN_NAME = /^[A-Za-z0-9 ]+$/;

const transferSchema = z.object({
  partnerReferenceNo: reference,
  amount,
  beneficiaryAccountName: z.string().min(1).max(100),
  beneficiaryAccountNo: accountNumber,
  beneficiaryBankCode: bankCode,
  sourceAccountNo: accountNumber,
  transactionDate: timestamp,
});

const statusSchema = z.object({ originalPartnerReferenceNo: reference, serviceCode: z.literal('18') });

/** Service 16: the name of an account. */
export function inquire({ body }: CheckedRequest): FacadeResponse {
  const { beneficiaryBankCode, beneficiaryAccountNo } = parse(inquirySchema, body);
  const { inquiry, holderName = DEFAULT_HOLDER_NAME } = behaviourOf(beneficiaryAccountNo);
  if (inquiry) return inquiry;
  return {
    case: '200 00',
    fields: { beneficiaryAccountName: holderName, beneficiaryAccountNo, beneficiaryBankCode, currency: 'IDR' },
  };
}

/** Service 18: a transfer to another bank. */
export async function transfer(bank: Bank, { merchant, body }: CheckedRequest): Promise<FacadeResponse> {
  const order = parse(transferSchema, body);
  const { acceptsOnlyPlainNames = false } = behaviourOf(order.beneficiaryAccountNo);
  if (acceptsOnlyPlainNames && !PLAIN_NAME.test(order.beneficiaryAccountName)) {
    throw failedCheck('400 01', 'beneficiaryAccountName');
  }
  const result = await bank.send(merchant, {
    partnerReferenceNo: order.partnerReferenceNo,
    amountRupiah: Number(order.amount.value),
    bankCode: order.beneficiaryBankCode,
    accountNumber: order.beneficiaryAccountNo,
    holderName: order.beneficiaryAccountName,
  });
  if (result.case !== '200 00') return { case: result.case };
  const { referenceNo, partnerReferenceNo } = result.transfer;
  return { case: '200 00', fields: { referenceNo, partnerReferenceNo, amount: order.amount } };
}

/** Service 36: the status of a transfer. Counts the call. */
export async function showTransferStatus(bank: Bank, { merchant, body }: CheckedRequest): Promise<FacadeResponse> {
  const { originalPartnerReferenceNo } = parse(statusSchema, body);
  const found = await bank.findCounted(merchant, originalPartnerReferenceNo);
  if (!found) return { case: '404 01' };
  return { case: '200 00', fields: describeTransfer(found, STATUS_CODES[merchant.profile][found.status]) };
}

function describeTransfer(found: Transfer, latestTransactionStatus: string): object {
  const { reportsOtherAmount = false } = behaviourOf(found.accountNumber);
  return {
    originalReferenceNo: found.referenceNo,
    originalPartnerReferenceNo: found.partnerReferenceNo,
    serviceCode: '18',
    transactionDate: formatWib(found.finishedAt ?? found.sentAt),
    amount: renderAmount(found.amountRupiah + (reportsOtherAmount ? 1 : 0)),
    beneficiaryAccountNo: found.accountNumber,
    beneficiaryBankCode: found.bankCode,
    latestTransactionStatus,
    transactionStatusDesc: found.status.toUpperCase(),
  };
}

/** @throws FailedCheck that names the first wrong field: missing, or malformed */
function parse<Value>(schema: z.ZodType<Value>, body: unknown): Value {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path ?? [];
  throw failedCheck(isMissing(body, path) ? '400 02' : '400 01', path.join('.') || 'body');
}

function isMissing(body: unknown, path: readonly PropertyKey[]): boolean {
  let value = body;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return true;
    value = new Map<PropertyKey, unknown>(Object.entries(value)).get(key);
  }
  return value === undefined;
}
