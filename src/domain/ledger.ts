/** The accounts of the double-entry ledger. `cash` is our bank account, from which operators refund customers. */
export const LEDGER_ACCOUNTS = [
  'provider_receivable',
  'merchant_pending',
  'merchant_available',
  'fee_revenue',
  'suspense',
  'cash',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

/**
 * One line of a posting. Its amount is a column of the payment, or of another subject. A line of zero rupiah is not
 * posted.
 */
export interface LedgerLine<Amount extends string = 'total' | 'net' | 'fee'> {
  readonly side: 'debit' | 'credit';
  readonly account: LedgerAccount;
  readonly amount: Amount;
}
