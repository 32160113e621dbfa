import type { BankPayout, BankPayoutStatus, FindPayoutOutcome } from '../../domain/bank-payout';
import { indeterminate, type Indeterminate, type ProviderCall } from '../../domain/provider-call';
import { UserError } from '../../errors';
import { differs, quote, readFields } from '../../lib/fields';
import { digitsOf, newDigits } from '../../snap/external-id';
import { caseOf, classify, SNAP_SERVICES } from '../../snap/outcomes';
import type { SnapResponse } from '../../snap/response';
import { SnapClient, type SnapSigning } from '../../snap/snap-client';
import { formatTimestamp } from '../../snap/timestamp';
import { ProviderHttp } from '../calls/http';
import type {
  BankAccountNumber,
  BankRejected,
  InquireAccountOutcome,
  PayoutKey,
  PayoutOrder,
  PayoutProvider,
  SendPayoutOutcome,
} from '../payout-provider';
import { nameFor } from './holder-name';
import type { PayoutCredentials } from './payout-credentials';
import { PAYOUT_PROFILES, type PayoutProfile } from './payout-profiles';
import { inquiryResponseSchema, statusCodeSchema, transferResponseSchema, transferStatusSchema } from './schemas';

export interface SnapPayoutOptions {
  readonly profile: keyof typeof PAYOUT_PROFILES;
  /** The signed paths follow it. Its own path is not signed. */
  readonly baseUrl: string;
  readonly credentials: PayoutCredentials;
}

interface Account {
  readonly client: SnapClient;
  readonly profile: PayoutProfile;
  readonly credentials: PayoutCredentials;
}

/**
 * Payouts by SNAP BI: services 16, 18 and 36. The bank chooses the rail. `close` closes the connections.
 * @throws UserError if the credentials lack what the profile needs
 */
export function createSnapPayoutProvider(options: SnapPayoutOptions): PayoutProvider & { close(): Promise<void> } {
  const { credentials } = options;
  const profile: PayoutProfile = PAYOUT_PROFILES[options.profile];
  const http = new ProviderHttp(options.baseUrl);
  const client = new SnapClient({ http, credentials, signing: signingOf(profile, credentials) });
  const account = { client, profile, credentials };
  return {
    inquireAccount: (number, call) => inquireAccount(account, number, call),
    prepareSend: (_, call) => client.prepare(call),
    sendPayout: (order, call) => sendPayout(account, order, call),
    findPayout: (key, call) => findPayout(account, key, call),
    close: () => http.close(),
  };
}

function signingOf({ signing }: PayoutProfile, { clientSecret }: PayoutCredentials): SnapSigning {
  if (signing.kind === 'rsa') return signing;
  if (clientSecret === undefined) throw new UserError('The credentials are not valid: clientSecret is missing.');
  return { ...signing, clientSecret };
}

/** Service 16. A name that is not about this account is no name. */
async function inquireAccount(
  { client, profile, credentials }: Account,
  { bankCode, number }: BankAccountNumber,
  call: ProviderCall,
): Promise<InquireAccountOutcome> {
  const response = await client.call(
    {
      service: 'account_inquiry',
      path: profile.paths.account_inquiry,
      externalId: newDigits(),
      body: {
        beneficiaryBankCode: bankCode,
        beneficiaryAccountNo: number,
        ...(profile.inquiryNamesSource && { additionalInfo: { sourceAccount: credentials.sourceAccountNo } }),
      },
    },
    call,
  );
  if (response.outcome === 'indeterminate') return response;
  const outcome = classify('account_inquiry', response);
  if (outcome === 'rejected') return rejected(profile, response);
  if (outcome !== 'done') return undecided(response);
  const inquiry = readFields(inquiryResponseSchema, response.body);
  if (!inquiry.ok) return indeterminate(inquiry.reason);
  const { beneficiaryAccountName, beneficiaryAccountNo } = inquiry.fields;
  if (beneficiaryAccountName === null) return indeterminate('beneficiaryAccountName has no name');
  if (beneficiaryAccountNo !== null && beneficiaryAccountNo !== number) {
    return indeterminate(`it is another account: ${differs('beneficiaryAccountNo', beneficiaryAccountNo, number)}`);
  }
  if (nameFor(profile, beneficiaryAccountName) === '') {
    const reason = "the bank accepts no character of the holder's name";
    return { outcome: 'rejected', failureKind: 'account', reason };
  }
  return { outcome: 'found', holderName: beneficiaryAccountName };
}

/**
 * Service 18. Each permission to send has one external id. So a second call by mistake is rejected for its id on the
 * same day, and for its reference at any time.
 */
async function sendPayout(
  { client, profile, credentials }: Account,
  { referenceId, sendNumber, amountRupiah, account, holderName, submittedAt }: PayoutOrder,
  call: ProviderCall,
): Promise<SendPayoutOutcome> {
  const response = await client.call(
    {
      service: 'interbank_transfer',
      path: profile.paths.interbank_transfer,
      externalId: digitsOf('transfer', `${referenceId}:${sendNumber}`),
      body: {
        partnerReferenceNo: referenceId,
        amount: { value: `${amountRupiah}.00`, currency: 'IDR' },
        beneficiaryAccountName: nameFor(profile, holderName),
        beneficiaryAccountNo: account.number,
        beneficiaryBankCode: account.bankCode,
        sourceAccountNo: credentials.sourceAccountNo,
        transactionDate: formatTimestamp(submittedAt),
      },
    },
    call,
  );
  if (response.outcome === 'indeterminate') return response;
  const isCutOff = profile.cutOffCase === caseOf(response);
  const outcome = classify('interbank_transfer', response);
  if (isBeneficiaryInvalid(response)) return { ...rejected(profile, response), failureKind: 'account' };
  if (isCutOff || outcome === 'rejected') return rejected(profile, response);
  if (outcome !== 'done') return undecided(response);
  const transfer = readFields(transferResponseSchema, response.body);
  if (!transfer.ok) return indeterminate(transfer.reason);
  const { partnerReferenceNo, referenceNo } = transfer.fields;
  if (partnerReferenceNo !== null && partnerReferenceNo !== referenceId) {
    return indeterminate(`it is another transfer: ${differs('partnerReferenceNo', partnerReferenceNo, referenceId)}`);
  }
  return { outcome: 'accepted', bankReference: referenceNo };
}

/** Service 36, by our reference. */
async function findPayout(
  { client, profile }: Account,
  { referenceId, bankReference, submittedAt }: PayoutKey,
  call: ProviderCall,
): Promise<FindPayoutOutcome> {
  const response = await client.call(
    {
      service: 'transfer_status',
      path: profile.paths.transfer_status,
      externalId: newDigits(),
      body: {
        originalPartnerReferenceNo: referenceId,
        ...(bankReference !== null && { originalReferenceNo: bankReference }),
        serviceCode: SNAP_SERVICES.interbank_transfer,
        ...(submittedAt && { transactionDate: formatTimestamp(submittedAt) }),
      },
    },
    call,
  );
  if (response.outcome === 'indeterminate') return response;
  const outcome = classify('transfer_status', response);
  if (outcome === 'not_found') return { outcome };
  return outcome === 'done' ? readPayout(profile, referenceId, response) : undecided(response);
}

function readPayout(profile: PayoutProfile, referenceId: string, response: SnapResponse): FindPayoutOutcome {
  const code = readFields(statusCodeSchema, response.body);
  if (!code.ok) return indeterminate(code.reason);
  const { latestTransactionStatus } = code.fields;
  const status = profile.statuses[latestTransactionStatus];
  if (status === undefined) {
    return indeterminate(`latestTransactionStatus ${quote(latestTransactionStatus)} is no known word`);
  }
  if (status === 'not_found') return { outcome: 'not_found' };
  return describePayout(status, referenceId, response);
}

function describePayout(
  status: BankPayoutStatus,
  referenceId: string,
  response: SnapResponse,
): { readonly outcome: 'found'; readonly payout: BankPayout } | Indeterminate {
  const read = readFields(transferStatusSchema, response.body);
  if (!read.ok) return indeterminate(read.reason);
  const { originalPartnerReferenceNo: reference, beneficiaryAccountNo, transactionDate, ...found } = read.fields;
  if (reference !== null && reference !== referenceId) {
    return indeterminate(`it is another transfer: ${differs('originalPartnerReferenceNo', reference, referenceId)}`);
  }
  const isCompleted = status === 'completed' || status === 'returned';
  return {
    outcome: 'found',
    payout: {
      status,
      amountRupiah: found.amount.value,
      accountLastFour: beneficiaryAccountNo === null ? null : beneficiaryAccountNo.slice(-4),
      bankReference: found.originalReferenceNo,
      completedAt: isCompleted ? transactionDate : null,
      failureKind: status === 'failed' ? 'other' : null,
      reason: status === 'failed' ? found.transactionStatusDesc : null,
    },
  };
}

/** The code is none that decides the outcome. */
function undecided({ status }: SnapResponse): Indeterminate {
  return indeterminate(`responseCode decides nothing: ${status}`);
}

/** What else a transfer has. A header may be wrong for each transfer, so it is no reason to suspend an account. */
const OTHER_FIELD = /\b(?:X-|CHANNEL-ID|Content-Type|partnerReferenceNo|amount|sourceAccountNo|transactionDate|body)/i;

/** The bank rejects a field of the beneficiary, so it would reject each later transfer to the account. */
function isBeneficiaryInvalid(response: SnapResponse): boolean {
  return caseOf(response) === '400 01' && !OTHER_FIELD.test(response.status);
}

function rejected({ failureKinds, cutOffCase }: PayoutProfile, response: SnapResponse): BankRejected {
  const pair = caseOf(response);
  const failureKind = pair === cutOffCase ? 'cut_off' : (failureKinds[pair] ?? 'other');
  return { outcome: 'rejected', failureKind, reason: response.status };
}
