import { approveRequest, rejectRequest, type ApprovalDependencies } from '../approvals/approvals';
import { setApprovalLimit } from '../approvals/set-approval-limit';
import { setApprovalRule } from '../approvals/set-approval-rule';
import { removeByCopy } from '../archive/remove-archived';
import { writeToArchive } from '../archive/write-archive';
import { agreeFee } from '../fees/agree-fee';
import { setFeeSchedules } from '../fees/set-fee-schedules';
import { approveOperator } from '../identity/approve-operator';
import { confirmUser } from '../identity/confirm-user';
import { createOperator } from '../identity/create-operator';
import { disableUser } from '../identity/disable-user';
import { inviteMember } from '../identity/invite-member';
import { inviteUser } from '../identity/invite-user';
import { linkUser } from '../identity/link-user';
import { removeMember } from '../identity/remove-member';
import { replaceOperatorKey } from '../identity/replace-operator-key';
import { resetMember } from '../identity/reset-member';
import { resetUser } from '../identity/reset-user';
import { revokeOperator } from '../identity/revoke-operator';
import { setMemberRole } from '../identity/set-member-role';
import { withdrawInvitation } from '../identity/withdraw-invitation';
import { setCompany } from '../invoices/company-details';
import { creditInvoice } from '../invoices/credit-invoice';
import { issueInvoices } from '../invoices/issue-invoices';
import { openInvoice } from '../invoices/open-invoice';
import { closeOwnLink } from '../links/close-link';
import { createOwnLink } from '../links/create-own-link';
import { approveMerchant } from '../merchants/approve-merchant';
import { createMerchant } from '../merchants/create-merchant';
import { holdMerchant } from '../merchants/hold-merchant';
import { identifyMerchant } from '../merchants/identify-merchant';
import { createKey } from '../merchants/keys/create-key';
import { revokeKey } from '../merchants/keys/revoke-key';
import { rotateKey } from '../merchants/keys/rotate-key';
import { updateKey } from '../merchants/keys/update-key';
import { closeNotices } from '../merchants/notices';
import { releaseMerchant } from '../merchants/release-merchant';
import { removeLogo } from '../merchants/remove-logo';
import { setAccent } from '../merchants/set-accent';
import { setFeePayer } from '../merchants/set-fee-payer';
import { setLogo } from '../merchants/set-logo';
import { setMerchant } from '../merchants/set-merchant';
import { showIdentity } from '../merchants/show-identity';
import { suspendMerchant } from '../merchants/suspend-merchant';
import { cancelPayment } from '../payments/actions/cancel-payment';
import { cancelRefund } from '../payments/actions/cancel-refund';
import { failPayment } from '../payments/actions/fail-payment';
import { expireNow, settleNow, submitRefundNow } from '../payments/actions/fire-timer';
import { refundPayment } from '../payments/actions/refund-payment';
import { resolveRefundAsPaid, resolveRefundAsRefunded } from '../payments/actions/resolve-refund';
import { retryRefund } from '../payments/actions/retry-refund';
import { settlePayment } from '../payments/actions/settle-payment';
import { createOwnPayment } from '../payments/create/create-own-payment';
import { eraseCustomer } from '../payments/erase-customer';
import { resolveException, resolveExceptionAsRefunded } from '../payments/resolve-exception';
import { showCustomer, showOwnCustomer } from '../payments/show-customer';
import { addBankAccount } from '../payouts/add-bank-account';
import { approveBankAccount, reactivateBankAccount } from '../payouts/approve-bank-account';
import { approvePayout } from '../payouts/approve-payout';
import { approvePayoutSettings } from '../payouts/approve-payout-settings';
import { addBankHolidays } from '../payouts/bank-holidays';
import { cancelPayout } from '../payouts/cancel-payout';
import { confirmBankAccount } from '../payouts/confirm-bank-account';
import { createPayout } from '../payouts/create-payout';
import { disableBankAccount } from '../payouts/disable-bank-account';
import { setPayoutLimits } from '../payouts/payout-limits';
import { setPayoutPolicy } from '../payouts/payout-policies';
import { requestPayout } from '../payouts/request-payout';
import { resendPayout } from '../payouts/resend-payout';
import { resolvePayout } from '../payouts/resolve-payout';
import { setPayoutSettings } from '../payouts/set-payout-settings';
import { showBankAccount, verifyBankAccount } from '../payouts/show-bank-account';
import { startPayouts } from '../payouts/start-payouts';
import { rejectBankAccount, suspendBankAccount } from '../payouts/stop-bank-account';
import { stopPayouts } from '../payouts/stop-payouts';
import { withdrawBankAccount } from '../payouts/withdraw-bank-account';
import { withdrawPayoutSettings } from '../payouts/withdraw-payout-settings';
import { disableAccount, enableAccount } from '../provider-accounts/account-status';
import { createAccount } from '../provider-accounts/create-account';
import { setCallRate } from '../provider-accounts/set-call-rate';
import { setCatalog } from '../provider-accounts/set-catalog';
import { setServerKey } from '../provider-accounts/set-key';
import { reconcileNow } from '../reconciliation/reconcile-all';
import { beginRecovery, endRecovery } from '../recovery/recovery-mode';
import { resealValues } from '../recovery/reseal';
import { recoverAll, recoverSubject } from '../recovery/run-recovery';
import { repeatRun } from '../runs/repeat-run';
import { trigger } from '../sandbox/trigger-event';
import { useWorkerVersion } from '../use-worker-version';
import { createEndpoint } from '../webhooks/create-endpoint';
import { deleteEndpoint } from '../webhooks/delete-endpoint';
import { disableEndpoint } from '../webhooks/disable-endpoint';
import { enableEndpoint } from '../webhooks/enable-endpoint';
import { pingEndpoint } from '../webhooks/ping-endpoint';
import { redeliver } from '../webhooks/redeliver';
import { rotateSecret } from '../webhooks/rotate-secret';
import { setEndpoint } from '../webhooks/set-endpoint';

/** The operations of members, and of operators for a merchant. */
export const MERCHANT_OPERATIONS = [
  createKey,
  updateKey,
  rotateKey,
  revokeKey,
  createEndpoint,
  setEndpoint,
  rotateSecret,
  pingEndpoint,
  disableEndpoint,
  enableEndpoint,
  deleteEndpoint,
  redeliver,
  createOwnPayment,
  createOwnLink,
  closeOwnLink,
  cancelPayment,
  cancelRefund,
  refundPayment,
  showOwnCustomer,
  requestPayout,
  approvePayout,
  cancelPayout,
  setPayoutSettings,
  approvePayoutSettings,
  withdrawPayoutSettings,
  setMerchant,
  setAccent,
  setLogo,
  removeLogo,
  closeNotices,
  inviteMember,
  withdrawInvitation,
  setMemberRole,
  removeMember,
  resetMember,
  addBankAccount,
  confirmBankAccount,
  withdrawBankAccount,
  disableBankAccount,
] as const;
export type MerchantOperationName = (typeof MERCHANT_OPERATIONS)[number]['name'];

/** The operations of operators only. */
const OPERATOR_OPERATIONS = [
  approveRequest,
  rejectRequest,
  setApprovalLimit,
  setApprovalRule,
  setCatalog,
  setFeeSchedules,
  agreeFee,
  setCompany,
  issueInvoices,
  creditInvoice,
  openInvoice,
  settlePayment,
  failPayment,
  retryRefund,
  resolveRefundAsRefunded,
  resolveRefundAsPaid,
  resolveException,
  resolveExceptionAsRefunded,
  showCustomer,
  eraseCustomer,
  expireNow,
  settleNow,
  submitRefundNow,
  setPayoutLimits,
  setPayoutPolicy,
  addBankHolidays,
  stopPayouts,
  startPayouts,
  createPayout,
  resendPayout,
  resolvePayout,
  showBankAccount,
  verifyBankAccount,
  approveBankAccount,
  reactivateBankAccount,
  rejectBankAccount,
  suspendBankAccount,
  createOperator,
  approveOperator,
  replaceOperatorKey,
  revokeOperator,
  inviteUser,
  resetUser,
  confirmUser,
  disableUser,
  linkUser,
  createMerchant,
  identifyMerchant,
  showIdentity,
  approveMerchant,
  suspendMerchant,
  setFeePayer,
  holdMerchant,
  releaseMerchant,
  createAccount,
  setServerKey,
  setCallRate,
  disableAccount,
  enableAccount,
  repeatRun,
  reconcileNow,
  recoverAll,
  recoverSubject,
  beginRecovery,
  endRecovery,
  resealValues,
  useWorkerVersion,
  writeToArchive,
  removeByCopy,
  trigger,
] as const;

/** Every operation. Its tests, the names in the audit log and the texts of the activity are derived from this list. */
export const OPERATIONS = [...MERCHANT_OPERATIONS, ...OPERATOR_OPERATIONS] as const;
export type OperationName = (typeof OPERATIONS)[number]['name'];

/** The operations that a second operator has to approve in production, and that take effect in the database. */
export const DATABASE_APPROVALS = [
  setApprovalLimit,
  setCatalog,
  setFeeSchedules,
  agreeFee,
  setCompany,
  creditInvoice,
  resolveExceptionAsRefunded,
  setPayoutLimits,
  setPayoutPolicy,
  startPayouts,
  approveBankAccount,
  reactivateBankAccount,
  approveOperator,
  revokeOperator,
  setFeePayer,
  identifyMerchant,
  setApprovalRule,
  inviteUser,
  resetUser,
  confirmUser,
  createAccount,
  setServerKey,
  createKey,
  createEndpoint,
  setEndpoint,
  rotateSecret,
] as const;

/**
 * The operations that a second operator has to approve in production, and that take effect in the workflow of a payment
 * or payout. An approval can be repeated, so `earlier` finds what it did before its outcome was lost.
 */
export const WORKFLOW_APPROVALS = [
  settlePayment,
  resolveRefundAsRefunded,
  resolveRefundAsPaid,
  approvePayout,
  resendPayout,
  resolvePayout,
  refundPayment,
  releaseMerchant,
] as const;

/** What an approval can execute. */
export const APPROVABLE: ApprovalDependencies['approvable'] = {
  database: DATABASE_APPROVALS,
  workflow: WORKFLOW_APPROVALS,
};
