import type { FaultKind } from '../faults';
import type { SnapCase } from '../snap/snap-response';

/** What happens to an accepted transfer, and when. The time counts from the step before. */
export interface TransferStep {
  readonly to: 'completed' | 'failed' | 'returned';
  readonly afterSeconds: number;
}

/** Rejected with this case, every time or only the first time; or not received at all. */
type Rejection = { readonly case: SnapCase; readonly onlyFirst?: true } | 'not_received';

export interface AccountBehaviour {
  readonly holderName?: string;
  readonly inquiry?: { readonly case: SnapCase };
  readonly inquiryFault?: FaultKind;
  readonly transfer?: Rejection;
  readonly transferFault?: FaultKind;
  /** A transfer with a holder's name of other than letters, digits and spaces is rejected. */
  readonly acceptsOnlyPlainNames?: true;
  /** Empty: only a control call changes the transfer. */
  readonly steps?: readonly TransferStep[];
  readonly notifications?: 'twice' | 'wrong_order' | 'forged' | 'none';
  /** The status reports another amount than was sent. */
  readonly reportsOtherAmount?: true;
}

interface MagicAccount {
  readonly accountNumber: string;
  readonly behaviour: AccountBehaviour;
  /** For the page and the response of the control call. */
  readonly description: string;
}

export const DEFAULT_HOLDER_NAME = 'TOKO DEMO LUNAS';
const DEFAULT_STEPS: readonly TransferStep[] = [{ to: 'completed', afterSeconds: 1 }];

/** Account numbers whose inquiry or transfer always behaves in the same way. */
export const MAGIC_ACCOUNTS: readonly MagicAccount[] = [
  {
    accountNumber: '9900000010',
    behaviour: { steps: [{ to: 'completed', afterSeconds: 10 }] },
    description: 'completes after 10 seconds',
  },
  {
    accountNumber: '9900000020',
    behaviour: { steps: [] },
    description: 'is pending until a control call completes it',
  },
  {
    accountNumber: '9900000021',
    behaviour: { steps: [] },
    description: 'is pending until a control call fails it',
  },
  {
    accountNumber: '9900000030',
    behaviour: { steps: [...DEFAULT_STEPS, { to: 'returned', afterSeconds: 5 }] },
    description: 'completes, and is returned 5 seconds later',
  },
  {
    accountNumber: '9900000031',
    behaviour: {
      steps: [
        { to: 'failed', afterSeconds: 1 },
        { to: 'completed', afterSeconds: 5 },
      ],
    },
    description: 'fails, and is completed 5 seconds later',
  },
  {
    accountNumber: '9900000040',
    behaviour: { transferFault: 'accept_then_timeout' },
    description: 'is executed, and no response arrives',
  },
  {
    accountNumber: '9900000041',
    behaviour: { transfer: 'not_received', transferFault: 'accept_then_timeout' },
    description: 'is not executed, no response arrives, and it is never found',
  },
  {
    accountNumber: '9900000042',
    behaviour: { transfer: { case: '409 00', onlyFirst: true } },
    description: 'gets 409xx00 at the first call, and is not executed',
  },
  {
    accountNumber: '9900000050',
    behaviour: { transfer: { case: '403 18' } },
    description: 'is rejected: the account is closed',
  },
  {
    accountNumber: '9900000051',
    behaviour: { transfer: { case: '403 14' } },
    description: 'is rejected: our balance is short',
  },
  {
    accountNumber: '9900000052',
    behaviour: { transfer: { case: '403 06' } },
    description: 'is rejected: cut-off',
  },
  {
    accountNumber: '9900000060',
    behaviour: { holderName: 'PT NAMA LAIN' },
    description: 'has another holder name at the inquiry',
  },
  {
    accountNumber: '9900000061',
    behaviour: { inquiry: { case: '403 18' } },
    description: 'is closed at the inquiry',
  },
  {
    accountNumber: '9900000062',
    behaviour: { inquiry: { case: '404 11' } },
    description: 'is unknown at the inquiry',
  },
  {
    accountNumber: '9900000063',
    behaviour: { inquiryFault: 'slow' },
    description: 'responds to the inquiry after 3 seconds',
  },
  {
    accountNumber: '9900000064',
    behaviour: { inquiryFault: 'timeout' },
    description: 'does not respond to the inquiry',
  },
  {
    accountNumber: '9900000065',
    behaviour: { holderName: "H. MUH. ARI'F, S.KOM", acceptsOnlyPlainNames: true },
    description: 'has a holder name with characters that the bank rejects in a transfer',
  },
  {
    accountNumber: '9900000066',
    behaviour: { holderName: '王小明' },
    description: 'has a holder name without a character that the bank accepts in a transfer',
  },
  {
    accountNumber: '9900000070',
    behaviour: { notifications: 'twice' },
    description: 'completes, and each notification arrives twice',
  },
  {
    accountNumber: '9900000071',
    behaviour: { notifications: 'wrong_order' },
    description: 'completes, and the notification of its start arrives after that of its end',
  },
  {
    accountNumber: '9900000072',
    behaviour: { notifications: 'forged' },
    description: 'completes, and its notification has a wrong signature',
  },
  {
    accountNumber: '9900000073',
    behaviour: { notifications: 'none' },
    description: 'completes, without a notification',
  },
  {
    accountNumber: '9900000080',
    behaviour: { reportsOtherAmount: true },
    description: 'completes, and its status has another amount',
  },
];

const BEHAVIOURS: ReadonlyMap<string, AccountBehaviour> = new Map(
  MAGIC_ACCOUNTS.map(({ accountNumber, behaviour }) => [accountNumber, behaviour]),
);

export function behaviourOf(accountNumber: string): AccountBehaviour {
  return BEHAVIOURS.get(accountNumber) ?? {};
}

export function stepsOf(accountNumber: string): readonly TransferStep[] {
  return behaviourOf(accountNumber).steps ?? DEFAULT_STEPS;
}
