import type { ReactElement } from 'react';
import { parseActor } from '../../../domain/actor';
import type { PayoutStatus } from '../../../domain/payout-transitions';
import { StateChip, type Tone } from '../../ui/chip';
import type { MerchantView } from '../merchant-view';
import { newPayoutPath } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';

/** A payout in a list. */
export interface ListedPayout {
  readonly id: string;
  readonly referenceId: string;
  readonly amountRupiah: number;
  readonly feeRupiah: number;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly status: PayoutStatus;
  readonly version: number;
  readonly requestedBy: string;
  readonly requesterName: string | null;
  readonly approvedBy: string | null;
  readonly approverName: string | null;
  readonly requestedAt: Date;
}

const TONES = {
  requested: 'warning',
  approved: 'open',
  submitted: 'open',
  completed: 'good',
  failed: 'bad',
  cancelled: 'neutral',
  returned: 'bad',
} as const satisfies Record<PayoutStatus, Tone>;

interface PayoutChipProps {
  readonly view: MerchantView;
  readonly status: PayoutStatus;
}

export function PayoutChip({ view, status }: PayoutChipProps): ReactElement {
  return <StateChip tone={TONES[status]} label={PAYOUT_TEXTS[view.locale.language].statuses[status]} />;
}

/** The way to a new payout, for those who may request one. The page itself shows why there is none. */
export function NewPayoutLink({ view }: { readonly view: MerchantView }): ReactElement | null {
  if (view.rightRejection('payouts', 'manage') !== null) return null;
  return (
    <a className="button primary" href={newPayoutPath.to(view)}>
      {PAYOUT_TEXTS[view.locale.language].new}
    </a>
  );
}

/** Who it was, in words; null for what Lunas does by itself. */
export function personOf({ locale }: MerchantView, actor: string, name: string | null): string | null {
  const texts = PAYOUT_TEXTS[locale.language];
  const identity = parseActor(actor);
  switch (identity?.kind) {
    case 'merchant_user':
      return name ?? texts.formerMember;
    case 'operator':
    case 'os_user':
      return texts.lunas;
    default:
      return identity?.kind === 'system' && identity.name === 'schedule' ? texts.schedule : null;
  }
}

type Approval = Pick<ListedPayout, 'approvedBy' | 'approverName'>;

/** Who approved it; a dash if it is not approved. */
export function approverOf(view: MerchantView, { approvedBy, approverName }: Approval): string {
  if (approvedBy === null) return '–';
  return personOf(view, approvedBy, approverName) ?? PAYOUT_TEXTS[view.locale.language].notNeeded;
}

type Request = Pick<ListedPayout, 'requestedBy' | 'requesterName'>;

export function requesterOf(view: MerchantView, { requestedBy, requesterName }: Request): string {
  return personOf(view, requestedBy, requesterName) ?? PAYOUT_TEXTS[view.locale.language].lunas;
}
