import type { FirstSteps } from '../../../db/merchants/find-first-steps';
import type { ChecklistStep } from '../../ui/checklist';
import { newKeyPath } from '../keys/key-paths';
import type { MerchantView } from '../merchant-view';
import { newPaymentPath } from '../payments/payment-paths';
import { settingsPath } from '../settings/settings-paths';
import { endpointsPath } from '../webhooks/webhook-paths';
import { HOME_TEXTS } from './home-texts';

/** Null: the merchant is not new, or has done all that this role may see. */
export function checklistSteps(view: MerchantView, first: FirstSteps): readonly ChecklistStep[] | null {
  if (!first.isNew) return null;
  const { steps } = HOME_TEXTS[view.locale.language];
  const { merchantState, rightRejection } = view;
  const canView = (area: 'settings' | 'developers') => rightRejection(area, 'view') === null;
  const isPending = merchantState === 'pending';
  const creation = rightRejection('payments', 'manage');
  const keyRejection = rightRejection('developers', 'manage');
  const approval = {
    ...steps.approved,
    isDone: !isPending,
    link: canView('settings') ? { href: settingsPath.to(view), label: steps.approved.label } : null,
  };
  const payment = {
    ...steps.paid,
    hint: isPending ? steps.paid.afterApproval : (creation ?? steps.paid.hint),
    isDone: first.hasPaid,
    link: isPending || creation !== null ? null : { href: newPaymentPath.to(view), label: steps.paid.label },
  };
  // A shop without a server needs neither.
  const isOptional = first.hasKey !== true;
  const developers = [
    {
      ...steps.key,
      isOptional,
      hint: keyRejection ?? steps.key.hint,
      isDone: first.hasKey === true,
      link: keyRejection === null ? { href: newKeyPath.to(view), label: steps.key.label } : null,
    },
    {
      ...steps.webhook,
      isOptional,
      hint: keyRejection ?? steps.webhook.hint,
      isDone: first.hasDelivered === true,
      link: { href: endpointsPath.to(view), label: steps.webhook.label },
    },
  ];
  const factor = {
    ...steps.factor,
    isDone: first.hasSecondFactor === true,
    link: { href: '/profile/security', label: steps.factor.label },
  };
  const all: readonly ChecklistStep[] = [approval, payment, ...(canView('developers') ? developers : []), factor];
  return all.every(({ isDone, isOptional: canBeLeft }) => isDone || canBeLeft === true) ? null : all;
}
