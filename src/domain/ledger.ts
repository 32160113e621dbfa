/**
 * The accounts of the double-entry ledger. `cash` is our bank account: payouts leave it, and operators refund customers
 * from it. `payout_in_transit` is reserved for payouts that the bank has not executed. `vat_payable` is owed to the tax
 * office.
 */
export const LEDGER_ACCOUNTS = [
  'provider_receivable',
  'merchant_pending',
  'merchant_available',
  'fee_revenue',
  'suspense',
  'cash',
  'payout_in_transit',
  'vat_payable',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

/** The amounts of a payment that are posted: `feeNet` is the fee without its VAT. */
export type PostedAmount = 'total' | 'net' | 'fee' | 'feeNet' | 'vat';

/**
 * One line of a posting. Its amount is a column of the payment, or of another subject. A line of zero rupiah is not
 * posted.
 */
export interface LedgerLine<Amount extends string = PostedAmount> {
  readonly side: 'debit' | 'credit';
  readonly account: LedgerAccount;
  readonly amount: Amount;
}
