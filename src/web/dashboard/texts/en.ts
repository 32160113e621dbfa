import type { MemberRole } from '../../../domain/member-roles';
import type { RejectionCode } from '../../../domain/payment-actions';
import type { PaymentStatus, TransitionName } from '../../../domain/payment-transitions';
import type { PageProblem } from '../../page/page-error';
import type { PaymentGroup } from '../payments/payment-groups';
import { SHARED_EN } from './shared-texts';

interface ProblemTexts {
  readonly title: string;
  readonly text: string;
}

/** A wait of a minute or more. */
function minutesOf(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}

const STATUSES = {
  created: 'Preparing',
  pending: 'Waiting for payment',
  paid: 'Paid',
  settled: 'Settled',
  expired: 'Expired',
  cancelled: 'Cancelled',
  failed: 'Failed',
  refund_processing: 'Refund in progress',
  refund_failed: 'Refund failed',
  refunded: 'Refunded',
} satisfies Record<PaymentStatus, string>;

const GROUPS = {
  all: 'All',
  waiting: 'Waiting',
  paid: 'Paid',
  unpaid: 'Not paid',
  attention: 'Needs attention',
  tried: 'Tried',
} satisfies Record<PaymentGroup, string>;

const ROLES = {
  owner: 'Owner',
  finance: 'Finance',
  developer: 'Developer',
  support: 'Support',
  cashier: 'Cashier',
  viewer: 'Viewer',
} satisfies Record<MemberRole, string>;

const REJECTIONS: Readonly<Record<RejectionCode, string>> = {
  provider_cannot_cancel: 'ShopeePay does not support cancelling. This QR ends by itself at its deadline.',
  provider_cannot_refund: 'ShopeePay does not support refunds through Lunas. Pay the customer back yourself.',
  not_issued: 'The QR is still being prepared. Wait a moment.',
  not_paid: 'This payment is not paid.',
  paid: 'The customer has paid already. Refund the payment instead.',
  settled: 'The money is settled and cannot be refunded here.',
  ended: 'This payment has ended already.',
  refund_in_progress: 'A refund of this payment is in progress already.',
  refund_failed: 'The provider rejected the refund. Lunas is checking it.',
  refunded: 'The money was returned to the customer already.',
  refund_submitted: 'The refund is with the provider and can no longer be cancelled.',
  refund_limit: 'This payment had 20 refunds, which is the most there can be. Contact Lunas.',
  settlement_delay: 'The settlement delay is not over.',
  other_status: 'The status of this payment does not allow it.',
};

const REFUND_CONFIRMED = 'Refund confirmed by the provider';

const TRANSITIONS = {
  create: 'Created',
  issue: STATUSES.pending,
  fail_creation: 'The provider did not create the QR',
  pay: 'Paid by the customer',
  expire: 'Expired without a payment',
  cancel: 'Cancelled',
  fail: 'Failed',
  request_refund: 'Refund requested',
  submit_refund: 'Refund sent to the provider',
  cancel_refund: 'Refund cancelled',
  confirm_refund: REFUND_CONFIRMED,
  fail_refund: 'Refund rejected by the provider',
  retry_refund: 'Refund requested again by Lunas',
  confirm_failed_refund: REFUND_CONFIRMED,
  resolve_refund_as_refunded: 'Refunded by Lunas in another way',
  resolve_refund_as_paid: 'Refund ended by Lunas: the payment stays paid',
  settle: 'Settled into the balance',
} satisfies Record<TransitionName, string>;

const PROBLEMS: Readonly<Record<PageProblem, ProblemTexts>> = {
  not_found: { title: 'Page not found', text: 'This address does not exist, or you have no access to it.' },
  forbidden: { title: 'Not permitted', text: 'Your role does not include this page.' },
  signed_out: { title: 'You are signed out', text: 'Sign in again to continue.' },
  cross_site: { title: 'Form not accepted', text: 'This form did not come from the dashboard. Open the page again.' },
  too_large: {
    title: 'Form too large',
    text: 'This form has more than 16 kB: go back, shorten what you wrote, and send it again.',
  },
  not_received: {
    title: 'Form not received',
    text: 'This form did not arrive completely: check your connection, go back, and send it again.',
  },
  wrong_host: { title: 'Wrong address', text: 'The dashboard has another address. Check the link.' },
  too_many_requests: { title: 'Too many requests', text: 'Wait a moment, then load the page again.' },
  link_used: { title: 'This link was used', text: 'Run: npx lunas users link' },
  link_invalid: { title: SHARED_EN.linkNotValid, text: 'It is unknown or expired. Run: npx lunas users link' },
  unavailable: { title: 'Not available right now', text: 'Your data is safe. Load the page again in a moment.' },
  failed: { title: 'Something went wrong', text: 'The page could not be shown. Give this number to Lunas:' },
};

const CANCEL_REFUND = 'Cancel the refund';

/** Every text of the dashboard in English. `ID` has the same keys: a missing one does not compile. */
export const EN = {
  skip: 'Skip to content',
  menuName: 'Menu',
  menu: {
    home: 'Home',
    counter: 'Counter',
    payments: 'Payments',
    balance: 'Balance',
    payouts: 'Payouts',
    bankAccount: 'Bank account',
    developers: 'Developers',
    team: 'Team',
    activity: 'Activity',
    settings: 'Settings',
  },
  developers: {
    name: 'Developers',
    keys: 'Keys',
    webhooks: 'Webhooks',
    deliveries: 'Deliveries',
    requests: 'Requests',
  },
  signOut: 'Sign out',
  signIn: 'Sign in',
  proveFirst: 'Prove first that it is you.',
  profile: 'Profile and security',
  waitFor: (seconds: number) => `You can try again in ${seconds < 60 ? `${seconds} s` : minutesOf(seconds)}.`,
  otherLanguage: 'Bahasa Indonesia',
  developmentSession: 'Development session',
  merchantStates: {
    suspended: 'The merchant is suspended. Contact Lunas.',
    pending: 'Lunas has not approved the merchant yet. Payments are possible after the approval.',
    on_hold: 'The merchant is on hold: nothing is settled at present. Contact Lunas.',
  },
  roles: ROLES,
  chooseMerchant: 'Choose a merchant',
  noMerchant: 'You are no member of a merchant. Request an invitation from its owner.',
  backHome: 'To the start page',
  reload: 'Load again',
  problems: PROBLEMS,
  permitted: (roles: readonly string[]) => `These roles may open it: ${roles.join(', ')}.`,
  onlyRoles: (roles: readonly string[]) => `Only these roles may do this: ${roles.join(', ')}.`,
  statuses: STATUSES,
  groups: GROUPS,
  rejections: REJECTIONS,
  transitions: TRANSITIONS,
  copy: { label: 'Copy', done: 'Copied' },
  newPayment: 'New payment',
  home: {
    title: 'Home',
    attention: 'Needs attention',
    refundsFailed: (count: string) => `Refunds that the provider rejected: ${count}. Lunas is checking them.`,
    refundsUnconfirmed: (count: string) => `Refunds without a confirmation for ten minutes: ${count}.`,
    show: 'Show',
    newest: 'Newest payments',
    all: 'All payments',
  },
  list: {
    title: 'Payments',
    caption: 'Payments, newest first',
    columns: {
      time: 'Time',
      reference: 'Reference',
      order: 'Order id',
      total: 'Total',
      net: 'You receive',
      status: 'Status',
    },
    search: 'Number or amount',
    from: 'From day',
    to: 'To day',
    apply: 'Show',
    clear: 'Clear filters',
    groupsName: 'Status',
    nothing: 'No payments yet. Create the first QR, or connect your shop by the API.',
    noMatch: SHARED_EN.noMatch,
    notSearched: 'Nothing was searched. Correct the filter above.',
    notFound: 'No payment has this amount, or a number that begins so.',
    pager: { newer: 'Newer', older: 'Older', name: 'Pages' },
    errorTitle: SHARED_EN.wrongFilter,
    errors: {
      day: SHARED_EN.dayFormat,
      order: SHARED_EN.dayOrder,
      cursor: 'This page of the list does not exist. Start again from the newest payment.',
      provider: 'There is no such provider.',
      amount: 'Write the amount in digits, such as 50.000.',
      amountDay: 'Choose one day, or write the amount in the search field.',
      group: 'There is no such group.',
      text: 'The search text has at most 64 characters.',
      repeated: SHARED_EN.givenTwice,
    },
  },
  detail: {
    title: (reference: string) => `Payment ${reference}`,
    back: 'Payments',
    next: {
      created: 'The QR is being prepared.',
      pending: 'The customer can pay until',
      checking: 'The time to pay is over. Lunas is checking whether money arrived.',
      settles: 'It is settled into your balance on',
      settlesManually: 'Lunas settles it manually.',
      onHold: 'The settlement waits, because the merchant is on hold.',
      settled: 'The money is in your balance.',
      refundHeld: 'The refund is sent to the provider in',
      refundSubmitted: 'The provider is making the refund.',
      refundFailed: REJECTIONS.refund_failed,
      refunded: 'The customer has the money back.',
      expired: 'The customer did not pay in time.',
      failed: 'The provider did not create a QR. Nothing was paid.',
      cancelled: 'The payment was cancelled before the customer paid.',
    },
    latePayments: {
      received: 'Money arrived after the end. It is returned to the customer.',
      submitted: 'Money arrived after the end. Its refund is in progress.',
      refunded: 'Money that arrived after the end was returned to the customer.',
      manual_review: 'Money arrived after the end. Lunas is checking its refund.',
    },
    facts: 'Details',
    description: 'For',
    expires: 'Valid until',
    returnsTo: 'Customer returns to',
    reference: 'Reference',
    order: 'Order id',
    provider: 'Provider',
    total: 'Customer pays',
    fee: 'Fee',
    net: 'You receive',
    created: 'Created',
    paid: 'Paid',
    timeline: 'Timeline',
    showQr: 'Show QR',
    actions: 'Actions',
    refund: 'Refund',
    cancel: 'Cancel payment',
    cancelRefund: CANCEL_REFUND,
    by: { key: 'API key', lunas: 'Lunas', formerMember: 'A former member' },
    pending: (amount: string) => `${amount} pending`,
    available: (amount: string) => `${amount} available`,
    latePaymentOf: (amount: string) => `${amount} arrived after the end`,
    webhooksDelivered: (count: number) => (count === 1 ? '1 webhook delivered' : `${count} webhooks delivered`),
    webhook: (event: string) => `Webhook ${event}`,
    deliveryStates: { pending: 'not delivered yet', delivered: 'delivered', dead: 'not delivered' },
    attempts: (count: number) => (count === 1 ? '1 attempt' : `${count} attempts`),
    attempt: (time: string, result: string, ms: number) => `${time}: ${result} after ${ms} ms`,
    noResponse: 'no response',
    done: {
      refund_requested: 'The refund is requested. You can cancel it until it is sent to the provider.',
      cancelled: 'The payment is cancelled. The customer can no longer pay it.',
      refund_cancelled: 'The refund is cancelled. The payment stays paid.',
    },
  },
  confirm: {
    refund: {
      title: 'Refund this payment?',
      customer: 'The customer gets back',
      merchant: 'You give up',
      fee: 'Fee that you still pay',
      explanation: 'A refund is always for the whole amount. It waits for a short time, in which you can cancel it.',
      button: (amount: string) => `Refund ${amount}`,
    },
    cancel: {
      title: 'Cancel this payment?',
      explanation: 'The customer can no longer pay the QR. You can create a new one at any time.',
      button: 'Cancel payment',
    },
    refundCancel: {
      title: 'Cancel the refund?',
      explanation: 'The customer gets nothing back. The payment stays paid.',
      button: CANCEL_REFUND,
    },
    keep: 'Back',
    unavailable: 'This is not possible at present, and nothing was changed. Try again in a moment.',
    unknown:
      'The outcome is not known yet. The page of the payment shows its current status. You can safely repeat this.',
    rejected: 'This is not possible:',
  },
  create: {
    title: 'New payment',
    amount: 'Amount',
    amountHint: 'Whole rupiah, dots are allowed',
    order: 'Order id (optional)',
    orderHint: 'Your own number, at most 64 characters',
    provider: 'Provider',
    button: 'Show QR',
    errorTitle: SHARED_EN.checkFields,
    errors: {
      amount: 'Write the amount in digits, such as 50.000. At most Rp 10.000.000.',
      order: 'The order id has at most 64 characters.',
      provider: 'This provider is not enabled for you.',
      description: 'The description is one line of at most 140 characters.',
      expires_in: 'Choose how long the QR works from the list.',
      repeated: SHARED_EN.sentTwice,
      form: SHARED_EN.noFormId,
    },
    feeOf: (rate: string) => `${rate} per payment`,
    paidBy: { merchant: 'You pay the fee: it is taken from the amount.', buyer: 'The customer pays it on top.' },
    worksFor: (minutes: string) => `The QR usually works for ${minutes} minutes.`,
  },
  qr: {
    title: 'Scan to pay',
    until: 'Pay before',
    codeName: 'QRIS code',
    link: 'Link for the customer',
    linkWorks: 'This link works until',
    copyLink: 'Copy link',
    copied: 'Copied',
    whatsapp: 'WhatsApp',
    whatsappText: (amount: string, url: string) => `Please pay ${amount} here: ${url}`,
    image: 'Save image',
    print: 'Print',
    details: 'Payment details',
    states: {
      preparing: 'The QR is being prepared',
      checking: 'The time is over. Checking for a payment …',
      paid: 'Paid',
      ended: 'This QR no longer works',
    },
  },
};

export type DashboardTexts = typeof EN;
