import type { ReactElement } from 'react';
import type { BankAccountStatus } from '../../../domain/bank-account-transitions';
import type { MerchantView } from '../merchant-view';
import { isCoolingDown, type ShownAccount } from './account-parts';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

const STEPS = ['inquiry', 'approval', 'usable'] as const;

/** The step that an account waits for. The other statuses wait for none. */
const WAITING: Readonly<Partial<Record<BankAccountStatus, (typeof STEPS)[number]>>> = {
  pending_inquiry: 'inquiry',
  pending_approval: 'approval',
  active: 'usable',
};

interface AccountStepsProps {
  readonly view: MerchantView;
  readonly account: ShownAccount;
}

/** The way of a new account until payouts can go to it; nothing once they can. */
export function AccountSteps({ view, account }: AccountStepsProps): ReactElement | null {
  const waiting = WAITING[account.status];
  if (waiting === undefined || (account.status === 'active' && !isCoolingDown(view, account))) return null;
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language].steps;
  return (
    <ol className="stepper">
      {STEPS.map((step, index) => (
        <li
          key={step}
          className={index < STEPS.indexOf(waiting) ? 'done' : undefined}
          aria-current={step === waiting ? 'step' : undefined}
        >
          {texts[step]}
        </li>
      ))}
    </ol>
  );
}
