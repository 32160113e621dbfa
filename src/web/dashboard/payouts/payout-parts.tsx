import type { ReactElement } from 'react';
import { parseActor } from '../../../domain/actor';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import type { PayoutStatus } from '../../../domain/payout-transitions';
import { StateChip, type Tone } from '../../ui/chip';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { newPayoutPath } from './payout-paths';
import { PAYOUT_TEXTS } from './payout-texts';
import { NEXT_PATHS, nextStepOf, whyNotText } from './why-not';

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

interface NewPayoutLinkProps {
  readonly view: MerchantView;
  /** Why there can be no payout now; null: there can. Undefined: the user may request none. */
  readonly whyNot: PayoutRejection | null | undefined;
}

/** The way to a new payout, or to the bank account that it needs first. A disabled one has its reason beside it. */
export function NewPayoutLink({ view, whyNot }: NewPayoutLinkProps): ReactElement | null {
  if (whyNot === undefined) return null;
  const label = PAYOUT_TEXTS[view.locale.language].new;
  if (whyNot === null) return <PrimaryLink href={newPayoutPath.to(view)} label={label} />;
  const step = nextStepOf(whyNot);
  if (step === 'newBankAccount' && view.rightRejection('bank_account', 'manage') === null) {
    return (
      <PrimaryLink href={NEXT_PATHS[step].to(view)} label={PAYOUT_FORM_TEXTS[view.locale.language].new.next[step]} />
    );
  }
  return (
    <div className="head-reason">
      <p id="why-no-payout" className="dim small">
        {whyNotText(view, whyNot)}
      </p>
      <button type="button" className="button" disabled aria-describedby="why-no-payout">
        {label}
      </button>
    </div>
  );
}

function PrimaryLink({ href, label }: { readonly href: string; readonly label: string }): ReactElement {
  return (
    <a className="button primary" href={href}>
      {label}
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
