import { validate as isUuid } from 'uuid';
import type { MerchantActionRow } from '../../../db/merchants/list-merchant-actions';
import type { MemberArea } from '../../../domain/member-roles';
import { periodPath, statementPath } from '../balance/balance-paths';
import { bankAccountPath } from '../bank-account/bank-account-paths';
import { keyPath } from '../keys/key-paths';
import { linkPath } from '../links/link-paths';
import type { MerchantView } from '../merchant-view';
import { paymentPagePath, paymentsPath } from '../payments/payment-paths';
import { payoutPagePath, payoutsPath } from '../payouts/payout-paths';
import { settingsPath } from '../settings/settings-paths';
import { memberPath, teamPath } from '../team/team-paths';
import { deliveriesPath, deliveryPath, endpointPath } from '../webhooks/webhook-paths';
import { ACTIVITY_TEXTS } from './activity-texts';

/** What an action was about. */
export interface ActionObject {
  readonly label: string;
  /** Null: it has no page, or the user may not view it. */
  readonly href: string | null;
}

/** The statement of a day, or of two days and those between them. */
function statementHref(code: string, target: string): string {
  const [from = '', to] = target.split('/');
  return to === undefined ? statementPath.to({ code, day: from }) : periodPath.to({ code }, { from, to });
}

interface KnownObjects {
  readonly memberIds: ReadonlySet<string>;
  readonly endpointIds: ReadonlySet<string>;
}

/** Null: the name of the action is enough. */
export function objectOf(view: MerchantView, row: MerchantActionRow, known: KnownObjects): ActionObject | null {
  const { code, rightRejection } = view;
  const { objects } = ACTIVITY_TEXTS[view.locale.language];
  const { action, target, outcome } = row;
  const [kind] = action.split('.');
  const canView = (area: MemberArea) => rightRejection(area, 'view') === null;
  const isDeveloper = canView('developers');
  // What was not created has no page.
  const isThere = outcome === 'succeeded' || !action.endsWith('.create');
  const link = (label: string, href: string, isPossible: boolean) => ({ label, href: isPossible ? href : null });
  if (action === 'payments.export') return link(objects.payments, paymentsPath.to(view), true);
  if (kind === 'payment' || kind === 'customer')
    return link(objects.payment, paymentPagePath.to({ code, ref: target }), isThere);
  if (kind === 'payment_link') return link(objects.link, linkPath.to({ code, link: target }), isThere);
  if (kind === 'key') return link(objects.key, keyPath.to({ code, key: target }), isThere && isDeveloper);
  if (action === 'webhook.redeliver') {
    return isUuid(target)
      ? link(objects.delivery, deliveryPath.to({ code, delivery: target }), isDeveloper)
      : link(objects.deliveries, deliveriesPath.to(view), isDeveloper);
  }
  if (kind === 'webhook') {
    const href = endpointPath.to({ code, endpoint: target });
    return link(objects.webhook, href, isDeveloper && known.endpointIds.has(target));
  }
  if (kind === 'member' || kind === 'user') {
    return known.memberIds.has(target)
      ? link(objects.member, memberPath.to({ code, user: target }), rightRejection('team', 'manage') === null)
      : link(objects.team, teamPath.to(view), canView('team'));
  }
  if (kind === 'statement') return link(target, statementHref(code, target), canView('balance'));
  if (kind === 'bank_account') return link(objects.bankAccount, bankAccountPath.to(view), canView('bank_account'));
  const isPayouts = canView('payouts');
  if (action === 'payouts.export') return link(objects.payouts, payoutsPath.to(view), isPayouts);
  if (kind === 'payout') {
    const exists = outcome === 'succeeded' || action !== 'payout.request';
    return link(objects.payout, payoutPagePath.to({ code, ref: target }), isPayouts && exists);
  }
  if (kind === 'payout_settings') return link(objects.payouts, payoutsPath.to(view), isPayouts);
  if (kind === 'merchant') return link(objects.settings, settingsPath.to(view), canView('settings'));
  return null;
}
