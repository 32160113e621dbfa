import type { MerchantClass } from './merchant-identity';

/** A credit note gives back a part of the fees of an invoice. */
export const INVOICE_KINDS = ['invoice', 'credit_note'] as const;
export type InvoiceKind = (typeof INVOICE_KINDS)[number];

/** Why a fee was booked; `payout_returned_fee`: the payout was cancelled or failed. */
export type InvoiceLineKind = 'payment' | 'payout' | 'payout_returned_fee' | 'payout_conflict';

/** What the fees of one kind and one rate sum up to. */
export interface InvoiceLine {
  readonly kind: InvoiceLineKind;
  /** Null: the payments have no class, or it is a payout. */
  readonly class: MerchantClass | null;
  /** Null: the rate of these payments was not captured yet. */
  readonly basisPoints: number | null;
  readonly flatRupiah: number | null;
  readonly count: number;
  /** Below zero where it was given back, as is the fee. */
  readonly turnoverRupiah: number;
  /** VAT included. */
  readonly feeRupiah: number;
  readonly vatRupiah: number;
}

/** The fees of a merchant in a period, or a credit note. Nothing of it changes. */
export interface FeeInvoice {
  readonly id: string;
  /** `FI-2026-000001`, or `CN-2026-000002`. */
  readonly number: string;
  /** Counts invoices and credit notes of all merchants, without gaps. */
  readonly sequence: number;
  readonly merchantId: string;
  readonly kind: InvoiceKind;
  /** `2026-11`, in WIB. */
  readonly month: string;
  /** 1, but for the months that a sandbox cuts before their end. */
  readonly part: number;
  /** The number of the invoice that a credit note corrects. */
  readonly corrects: string | null;
  /** The last posting that it does not cover. */
  readonly fromPostingId: number;
  readonly upToPostingId: number;
  /** VAT included; below zero in a credit note. */
  readonly feeRupiah: number;
  readonly vatRupiah: number;
  /** Empty in a credit note. */
  readonly lines: readonly InvoiceLine[];
  /** The hash of all columns but the parties, in hexadecimal digits. */
  readonly sha256: string;
  readonly issuedAt: Date;
}

/** Who an invoice is from, or to. */
export interface InvoiceParty {
  readonly legalName: string;
  /** Null: the merchant had no identity in force. */
  readonly address: string | null;
  readonly taxNumber: string | null;
}

/** The parties of an invoice at its issue. */
export interface InvoiceParties {
  readonly company: InvoiceParty;
  readonly merchant: InvoiceParty;
}

/** What the credit notes of an invoice have left of it, VAT included, and the VAT in it. */
export interface LeftOfInvoice {
  readonly leftRupiah: number;
  readonly leftVatRupiah: number;
}

/** The VAT of a part of the fee, rounded down; of all that is left, all VAT that is left. */
export function vatOfPart({ leftRupiah, leftVatRupiah }: LeftOfInvoice, feeRupiah: number): number {
  // The product of numbers is not exact above 2^53: a fee of Rp 300,000,000 with its VAT.
  return leftRupiah > 0 ? Number((BigInt(leftVatRupiah) * BigInt(feeRupiah)) / BigInt(leftRupiah)) : 0;
}

/** The least and the most VAT that a part has: neither the VAT nor the fee without it exceeds what is left. */
export function vatRangeOfPart(
  { leftRupiah, leftVatRupiah }: LeftOfInvoice,
  feeRupiah: number,
): { readonly least: number; readonly most: number } {
  return {
    least: Math.max(0, feeRupiah - (leftRupiah - leftVatRupiah)),
    most: Math.min(feeRupiah, leftVatRupiah),
  };
}
