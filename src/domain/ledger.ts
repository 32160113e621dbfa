/** Accounts of the double-entry ledger (design §4). `cash` is our own bank account, from which operators refund customers. */
export const LEDGER_ACCOUNTS = [
  'provider_receivable',
  'merchant_pending',
  'merchant_available',
  'fee_revenue',
  'suspense',
  'cash',
] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

/** One line of a posting; its amount is read from the payment that it belongs to. A line of zero rupiah is not booked. */
export interface LedgerLine {
  readonly side: 'debit' | 'credit';
  readonly account: LedgerAccount;
  readonly amount: 'total' | 'net' | 'fee';
}
