import type { BankPayoutStatus, PayoutFailureKind } from '../../domain/bank-payout';
import type { SnapService } from '../../snap/outcomes';

/** How one bank uses the transfers of SNAP. A fact without a source has a safe default and is listed as unconfirmed. */
export interface PayoutProfile {
  readonly signing: { readonly kind: 'hmac_with_token'; readonly tokenPath: string } | { readonly kind: 'rsa' };
  /** In full, as they are signed. */
  readonly paths: Readonly<Record<SnapService, string>>;
  /** `latestTransactionStatus` of service 36. A code that is not here is indeterminate. */
  readonly statuses: Readonly<Record<string, BankPayoutStatus | 'not_found'>>;
  /** Why a transfer was rejected, by HTTP status and case. */
  readonly failureKinds: Readonly<Record<string, PayoutFailureKind>>;
  /** The characters of a holder's name in a transfer, and how many; an inquiry reports others. */
  readonly names: { readonly allowed: RegExp; readonly maxLength: number };
  /** The HTTP status and case of a cut-off; null if the bank does not promise that it moved nothing. */
  readonly cutOffCase: string | null;
  readonly notifications: 'iris' | 'snap';
  /** The inquiry wants our account, too. */
  readonly inquiryNamesSource: boolean;
  /**
   * The time after a call in which the status proves nothing (Midtrans: 10 minutes). The sandbox's bank is immediate.
   */
  readonly statusNotBeforeSeconds: number;
  /**
   * The bank rejects a known reference for these days. A later repeat would be another payout (Midtrans: two months).
   */
  readonly referenceKeptForDays: number;
  /** Not empty: production must not use the profile. */
  readonly unconfirmed: readonly string[];
}

const FAILURE_KINDS: PayoutProfile['failureKinds'] = {
  '403 02': 'limit',
  '403 09': 'account',
  '403 14': 'source_balance',
  '403 18': 'account',
  '404 11': 'account',
};

/** Midtrans, "Error mapping": 400xx01 for other than letters, digits and spaces. */
const NAMES: PayoutProfile['names'] = { allowed: /[A-Za-z0-9 ]/, maxLength: 70 };

const STATUSES: PayoutProfile['statuses'] = {
  '00': 'completed',
  '01': 'pending',
  '02': 'pending',
  '03': 'pending',
  '04': 'returned',
  '05': 'failed',
  '06': 'failed',
  '07': 'not_found',
};

const CUT_OFF = '403 06';

export const PAYOUT_PROFILES = {
  midtrans: {
    signing: { kind: 'hmac_with_token', tokenPath: '/v1.0/access-token/b2b' },
    paths: {
      account_inquiry: '/v1.0/account-inquiry-external',
      interbank_transfer: '/v1.0/transfer-interbank',
      transfer_status: '/v1.0/transfer/status',
    },
    statuses: STATUSES,
    failureKinds: FAILURE_KINDS,
    names: NAMES,
    cutOffCase: CUT_OFF,
    notifications: 'iris',
    inquiryNamesSource: false,
    statusNotBeforeSeconds: 600,
    referenceKeptForDays: 60,
    unconfirmed: [],
  },
  faspay: {
    signing: { kind: 'rsa' },
    paths: {
      account_inquiry: '/account/v1.0/account-inquiry-external',
      interbank_transfer: '/account/v1.0/transfer-interbank',
      transfer_status: '/account/v1.0/transfer/status',
    },
    statuses: STATUSES,
    failureKinds: FAILURE_KINDS,
    names: NAMES,
    cutOffCase: null,
    notifications: 'snap',
    inquiryNamesSource: true,
    statusNotBeforeSeconds: 600,
    referenceKeptForDays: 30,
    unconfirmed: ['statuses', 'signature of notifications', 'production URL', 'how long references are kept'],
  },
} as const satisfies Record<string, PayoutProfile>;
