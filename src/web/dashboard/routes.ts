import type { PageRoute } from '../page/page-route';
import { exportActivity } from './activity/export-activity';
import { listActivity } from './activity/list-activity';
import { exportPeriod } from './balance/export-period';
import { exportStatement } from './balance/export-statement';
import { showBalance } from './balance/show-balance';
import { showPeriod } from './balance/show-period';
import { showStatement } from './balance/show-statement';
import { accountActionPages } from './bank-account/account-action-pages';
import { newBankAccountPages } from './bank-account/new-bank-account';
import { showBankAccountPage } from './bank-account/show-bank-account';
import { counterPages } from './counter/counter';
import { getManifest, getWorker, showOffline } from './counter/install';
import { exportShift, showShift } from './counter/shift';
import type { DashboardDependencies } from './dashboard-dependencies';
import { showHome } from './home/home';
import { exportInvoice } from './invoices/export-invoice';
import { listInvoicePage } from './invoices/list-invoices';
import { getInvoicePdf, showInvoicePage } from './invoices/show-invoice';
import { editKeyPages } from './keys/edit-key';
import { listKeyPage } from './keys/list-keys';
import { newKeyPages } from './keys/new-key';
import { revokeKeyPages } from './keys/revoke-key';
import { rotateKeyPages } from './keys/rotate-key';
import { showKeyPage } from './keys/show-key';
import { closeLinkPages } from './links/close-link';
import { showLinkCard } from './links/link-card';
import { listLinkPage } from './links/list-links';
import { newLinkPages } from './links/new-link';
import { showLinkPage } from './links/show-link';
import { closeNoticesByForm } from './notices/close-notice';
import { showCustomerPage } from './payments/customer';
import { exportPayments } from './payments/export-payments';
import { listPayments } from './payments/list-payments';
import { newPaymentPages } from './payments/new-payment';
import { paymentActionPages } from './payments/payment-action-pages';
import { getQrImage, showQr } from './payments/qr';
import { showPaymentPage, streamPayment } from './payments/show-payment';
import { showSlip } from './payments/show-slip';
import { exportPayoutLines } from './payouts/export-payout-lines';
import { exportPayouts } from './payouts/export-payouts';
import { listPayoutPage } from './payouts/list-payouts';
import { newPayoutPages } from './payouts/new-payout';
import { payoutActionPages } from './payouts/payout-action-pages';
import { proposedSchedulePages } from './payouts/proposed-schedule';
import { schedulePages } from './payouts/schedule';
import { showPayoutPage } from './payouts/show-payout';
import { credentialPages } from './profile/credentials';
import { passkeyPages } from './profile/passkeys';
import { profilePages } from './profile/profile';
import { securityPages } from './profile/security';
import { listRequestPage } from './requests/list-requests';
import { showRequestPage } from './requests/show-request';
import { chooseMerchant } from './session/choose-merchant';
import { logout } from './session/logout';
import { setLanguage } from './session/set-language';
import { appearancePages } from './settings/appearance';
import { editSettingsPages } from './settings/edit-settings';
import { settingsPages } from './settings/settings';
import { enrolPages } from './sign-in/enrol';
import { invitationPages } from './sign-in/invitation';
import { loginPages } from './sign-in/login';
import { passkeySignInPages } from './sign-in/passkey';
import { resetPages } from './sign-in/reset';
import { stepUpPages } from './sign-in/step-up';
import { inviteMemberPages } from './team/invite-member';
import { removeMemberPages } from './team/remove-member';
import { resetMemberPages } from './team/reset-member';
import { setRolePages } from './team/set-role';
import { showMemberPage } from './team/show-member';
import { showTeam } from './team/show-team';
import { withdrawInvitationPages } from './team/withdraw-invitation';
import { editEndpointPages } from './webhooks/edit-endpoint';
import { endpointActionPages } from './webhooks/endpoint-action-pages';
import { listDeliveriesPage } from './webhooks/list-deliveries';
import { listEndpointPage } from './webhooks/list-endpoints';
import { newEndpointPages } from './webhooks/new-endpoint';
import { pingEndpointPages } from './webhooks/ping-endpoint';
import { redeliverRangePages } from './webhooks/redeliver-range';
import { rotateSecretPages } from './webhooks/rotate-secret';
import { deliveryPages } from './webhooks/show-delivery';
import { showEndpointPage } from './webhooks/show-endpoint';

/** Every page of the dashboard. A fixed path stands before a path with a parameter. */
export const DASHBOARD_ROUTES: readonly PageRoute<DashboardDependencies>[] = [
  chooseMerchant,
  logout,
  setLanguage,
  ...loginPages,
  ...passkeySignInPages,
  ...enrolPages,
  ...invitationPages,
  ...resetPages,
  ...stepUpPages,
  ...profilePages,
  ...securityPages,
  ...credentialPages,
  ...passkeyPages,
  showHome,
  ...counterPages,
  showShift,
  exportShift,
  showOffline,
  getWorker,
  getManifest,
  listPayments,
  exportPayments,
  ...newPaymentPages,
  showPaymentPage,
  streamPayment,
  showQr,
  getQrImage,
  showSlip,
  showCustomerPage,
  ...paymentActionPages,
  listLinkPage,
  // Before the page, whose `:ref` takes every word.
  ...newLinkPages,
  showLinkPage,
  ...closeLinkPages,
  showLinkCard,
  showBalance,
  showPeriod,
  exportPeriod,
  // Before the page, whose `:day` takes every ending.
  exportStatement,
  showStatement,
  listInvoicePage,
  // Before the page, whose `:number` takes every ending.
  getInvoicePdf,
  exportInvoice,
  showInvoicePage,
  showBankAccountPage,
  ...newBankAccountPages,
  ...accountActionPages,
  listPayoutPage,
  exportPayouts,
  // Before the page, whose `:ref` takes every word.
  ...newPayoutPages,
  ...schedulePages,
  ...proposedSchedulePages,
  ...payoutActionPages,
  exportPayoutLines,
  showPayoutPage,
  listKeyPage,
  ...newKeyPages,
  showKeyPage,
  ...editKeyPages,
  ...rotateKeyPages,
  ...revokeKeyPages,
  listRequestPage,
  showRequestPage,
  showTeam,
  ...inviteMemberPages,
  ...withdrawInvitationPages,
  showMemberPage,
  ...setRolePages,
  ...removeMemberPages,
  ...resetMemberPages,
  closeNoticesByForm,
  listEndpointPage,
  ...newEndpointPages,
  showEndpointPage,
  ...editEndpointPages,
  ...rotateSecretPages,
  ...pingEndpointPages,
  ...endpointActionPages,
  listDeliveriesPage,
  ...redeliverRangePages,
  ...deliveryPages,
  ...settingsPages,
  ...editSettingsPages,
  ...appearancePages,
  listActivity,
  exportActivity,
];
