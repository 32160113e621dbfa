/**
 * What workflows, the reconciliation and the check of Temporal ask of operators. The command line adds the command of
 * each step.
 */
export const OPERATOR_STEPS = {
  settle: 'an operator to settle it',
  releaseMerchant: 'an operator to release the merchant',
  merchantOnHold: 'the merchant is on hold',
  resolveRefund: 'an operator to retry or resolve the refund',
  failPayment: 'An operator can fail the payment',
  reviewLatePayment: 'no rule refunds it',
  endRecoveryMode: 'Lunas is in recovery mode',
  setUpTemporal: 'Set up the namespace',
  recover: 'a recovery starts it',
  approveMerchant: 'an operator to approve the merchant',
  approvePayout: 'an operator to approve it',
  startPayouts: 'an operator to start payouts again',
  enablePayoutsAccount: 'an operator to enable its payouts account',
  reactivateBankAccount: 'an operator to reactivate the bank account',
} as const;

export type OperatorStep = keyof typeof OPERATOR_STEPS;
