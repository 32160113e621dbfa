import type { Language } from '../../domain/sign-in';
import { shopOf } from '../../qris/qris';
import { SANDBOX_TEXTS } from '../ui/environment-bar';
import type { Card, CardCode, CardFacts, CardLine, LineStyle } from './card/card';
import { checkoutStateOf, type CheckoutPayment } from './checkout-state';
import { factsOf } from './facts';
import { OUTCOME_ICONS } from './icons';
import { formatRupiah, formatTimestamp, TEXTS } from './texts';

/** What the image of a code shows of its payment. */
export type CodePayment = Pick<
  CheckoutPayment,
  'referenceId' | 'merchantReferenceId' | 'merchantName' | 'totalRupiah' | 'expiresAt' | 'accent' | 'logo'
>;

/** How a card is written, and whether its money is real. */
interface CardLook {
  readonly language: Language;
  readonly isSandbox: boolean;
}

const line = (style: LineStyle, text: string): CardLine => ({ kind: 'line', style, text });

/** What each card begins with, and what stands on all of it. */
const frameOf = ({ merchantName, accent, logo }: CodePayment, { language, isSandbox }: CardLook) => ({
  shop: { merchantName, accent, logo },
  environment: isSandbox ? SANDBOX_TEXTS[language] : null,
});

/** The code for the gallery of a phone: what to pay until when, and the name that the app shows. */
export function codeCard(payload: string, payment: CodePayment, look: CardLook): Card {
  const { language } = look;
  const texts = TEXTS[language];
  const { merchantReferenceId, referenceId, totalRupiah, expiresAt } = payment;
  const rows: CardFacts['rows'] = [
    ...(merchantReferenceId === null ? [] : [[texts.facts.order, merchantReferenceId] as const]),
    [texts.facts.reference, referenceId],
  ];
  return {
    ...frameOf(payment, look),
    parts: [
      line('task', texts.states.waiting.title),
      line('amount', formatRupiah(totalRupiah)),

      { kind: 'deadline', label: texts.payBefore, time: formatTimestamp(expiresAt, language) },
      codeOf(payload, language),
      { kind: 'facts', rows },
    ],
  };
}

function codeOf(payload: string, language: Language): CardCode {
  const { anyApp, appShows, checkApp, facts } = TEXTS[language];
  const shop = shopOf(payload);
  const name = shop === null ? [] : [line('small', appShows), line('name', shop.merchantName)];
  const nmid = shop === null || shop.nmid === null ? [] : [line('small', `${facts.nmid}: ${shop.nmid}`)];
  return { kind: 'code', payload, anyApp, caption: [...name, ...nmid, line('small', checkApp)] };
}

/** The receipt of a payment that was paid. */
export function receiptCard(payment: CheckoutPayment, nowMs: number, look: CardLook): Card {
  const { language } = look;
  const { states, facts } = TEXTS[language];
  const state = checkoutStateOf(payment, nowMs);
  const { title, explanation } = states[state];
  const rows = factsOf(payment, nowMs).map(
    ([name, value]) =>
      [
        facts[name],
        value instanceof Date ? formatTimestamp(value, language, name === 'paid' ? 'second' : 'minute') : value,
      ] as const,
  );
  return {
    ...frameOf(payment, look),
    parts: [
      { kind: 'icon', icon: OUTCOME_ICONS[state] },
      line('title', title),
      line('explanation', explanation),
      line('amount', formatRupiah(payment.totalRupiah)),
      { kind: 'facts', rows },
    ],
  };
}
