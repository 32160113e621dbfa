import { maskSecretKey } from '../../../crypto/secret-key';
import type { DeveloperAttention } from '../../../db/merchants/find-developer-attention';
import { ATTENTION_LIMIT, type PaymentAttention } from '../../../db/operations/find-attention';
import type { PayoutAttention } from '../../../db/payouts/find-payout-attention';
import type { AttentionRow } from '../../ui/attention';
import { formatTime } from '../../ui/format';
import { keyPath, keysPath } from '../keys/key-paths';
import type { MerchantView } from '../merchant-view';
import { paymentsPath } from '../payments/payment-paths';
import { payoutPagePath, payoutsPath } from '../payouts/payout-paths';
import { settingsPath } from '../settings/settings-paths';
import { originOf } from '../webhooks/endpoint-parts';
import { deliveriesPath, endpointPath, endpointsPath } from '../webhooks/webhook-paths';
import { HOME_TEXTS } from './home-texts';

interface FoundAttention {
  readonly payments: PaymentAttention;
  /** Null: the role may not view it. */
  readonly payouts: PayoutAttention | null;
  /** Null: the role may not view it. */
  readonly developers: DeveloperAttention | null;
  /** The first day whose dead deliveries count. */
  readonly deadFrom: string;
}

/** What waits, the most urgent first. Each row is a link to what it is about; a count, to the list that it counts. */
export function attentionRows(view: MerchantView, found: FoundAttention): AttentionRow[] {
  const { payments, payouts, developers, deadFrom } = found;
  return [
    ...stateRows(view),
    ...paymentRows(view, payments),
    ...(payouts === null ? [] : payoutRows(view, payouts)),
    ...(developers === null ? [] : [...deliveryRows(view, developers, deadFrom), ...keyRows(view, developers)]),
  ];
}

/** A merchant that waits for its approval has a checklist, which begins with it. */
function stateRows(view: MerchantView): AttentionRow[] {
  const { merchantState, texts, code, locale, rightRejection } = view;
  const { attention } = HOME_TEXTS[locale.language];
  switch (merchantState) {
    case null:
    case 'pending':
      return [];
    case 'suspended': {
      const isShown = rightRejection('settings', 'view') === null;
      const link = isShown ? { link: { href: settingsPath.to(view), label: attention.showSettings } } : {};
      return [{ tone: 'bad', text: texts.merchantStates.suspended, ...link }];
    }
    case 'on_hold':
      return [
        {
          tone: 'bad',
          text: texts.merchantStates.on_hold,
          link: { href: paymentsPath.to({ code }, { status: 'paid' }), label: attention.showWaiting },
        },
      ];
  }
}

function paymentRows({ texts: { home }, code, locale }: MerchantView, counts: PaymentAttention): AttentionRow[] {
  const { attention } = HOME_TEXTS[locale.language];
  const link = (status: string) => ({ href: paymentsPath.to({ code }, { status }), label: attention.showPayments });
  const { refundsFailed, refundsUnconfirmed } = counts;
  return [
    ...(refundsFailed > 0
      ? [{ tone: 'bad', text: home.refundsFailed(countText(refundsFailed)), link: link('refund_failed') } as const]
      : []),
    ...(refundsUnconfirmed > 0
      ? [
          {
            tone: 'warning',
            text: home.refundsUnconfirmed(countText(refundsUnconfirmed)),
            hint: attention.lunasQueries,
            link: link('refund_processing'),
          } as const,
        ]
      : []),
  ];
}

/** A payout that is the only one of its kind is named. Only who may approve has to. */
function payoutRows({ code, locale, rightRejection }: MerchantView, found: PayoutAttention): AttentionRow[] {
  const { attention } = HOME_TEXTS[locale.language];
  const [waiting, unpaid] = [found.waiting[0], found.unpaid[0]];
  const rows: AttentionRow[] = [];
  const linkOf = (references: readonly string[], reference: string) =>
    references.length === 1
      ? { href: payoutPagePath.to({ code, ref: reference }), label: attention.showPayout }
      : { href: payoutsPath.to({ code }), label: attention.showPayouts };
  if (waiting !== undefined && rightRejection('payouts', 'authorise') === null) {
    const isOne = found.waiting.length === 1;
    const text = isOne ? attention.payoutWaits(waiting) : attention.payoutsWait(countText(found.waiting.length));
    rows.push({ tone: 'warning', text, link: linkOf(found.waiting, waiting) });
  }
  if (unpaid !== undefined) {
    const isOne = found.unpaid.length === 1;
    const text = isOne ? attention.payoutUnpaid(unpaid) : attention.payoutsUnpaid(countText(found.unpaid.length));
    rows.push({ tone: 'bad', text, hint: attention.moneyAvailable, link: linkOf(found.unpaid, unpaid) });
  }
  return rows;
}

/** An endpoint that is the only one of its kind is named. */
function deliveryRows(view: MerchantView, found: DeveloperAttention, deadFrom: string): AttentionRow[] {
  const { code, locale } = view;
  const { attention } = HOME_TEXTS[locale.language];
  const { deadDeliveries, failingEndpoints, stoppedEndpoints } = found;
  const [failing, stopped] = [failingEndpoints[0], stoppedEndpoints[0]];
  const rows: AttentionRow[] = [];
  const linkOf = (endpoints: readonly { readonly id: string }[], id: string) =>
    endpoints.length === 1
      ? { href: endpointPath.to({ code, endpoint: id }), label: attention.showEndpoint }
      : { href: endpointsPath.to(view), label: attention.showEndpoints };
  if (deadDeliveries > 0) {
    rows.push({
      tone: 'bad',
      text: attention.dead(countText(deadDeliveries)),
      hint: hintOf(view, attention.redeliver),
      link: { href: deliveriesPath.to(view, { status: 'dead', from: deadFrom }), label: attention.showDeliveries },
    });
  }
  if (stopped) {
    const text = stoppedEndpoints.length === 1 ? originOf(stopped.url) : attention.endpoints(stoppedEndpoints.length);
    const link = linkOf(stoppedEndpoints, stopped.id);
    rows.push({ tone: 'bad', text: attention.stopped(text), hint: hintOf(view, attention.enable), link });
  }
  if (failing) {
    const text = failingEndpoints.length === 1 ? originOf(failing.url) : attention.endpoints(failingEndpoints.length);
    const since = formatTime(failing.failingSince, 'short', locale);
    const link = linkOf(failingEndpoints, failing.id);
    rows.push({ tone: 'bad', text: attention.failing(text, since), hint: attention.checkReceiver, link });
  }
  return rows;
}

function keyRows(view: MerchantView, { expiringKeys }: DeveloperAttention): AttentionRow[] {
  const { locale } = view;
  const { attention } = HOME_TEXTS[locale.language];
  const [first] = expiringKeys;
  if (!first) return [];
  const isOne = expiringKeys.length === 1;
  const at = formatTime(first.expiresAt, 'short', locale);
  const text = isOne
    ? attention.expires(first.name ?? maskSecretKey(first), at)
    : attention.expire(expiringKeys.length, at);
  const link = isOne
    ? { href: keyPath.to({ code: view.code, key: first.id }), label: attention.showKey }
    : { href: keysPath.to(view), label: attention.showKeys };
  return [{ tone: 'warning', text, hint: hintOf(view, attention.otherKey), link }];
}

/** What to do, or which roles may do it. */
function hintOf({ rightRejection }: MerchantView, hint: string): string {
  return rightRejection('developers', 'manage') ?? hint;
}

function countText(count: number): string {
  return count >= ATTENTION_LIMIT ? `${ATTENTION_LIMIT}+` : String(count);
}
