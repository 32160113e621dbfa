import type { Language } from '../../domain/sign-in';
import type { Card, CardRow, CardText } from '../../qris/card';
import { shopOf } from '../../qris/qris';
import { SANDBOX_TEXTS, type EnvironmentTexts } from '../ui/environment-bar';
import { checkoutStateOf, type CheckoutPayment } from './checkout-state';
import { factsOf } from './facts';
import { formatRupiah, formatTimestamp, TEXTS } from './texts';

/** What the image of a code shows of its payment. */
export type CodePayment = Pick<
  CheckoutPayment,
  'referenceId' | 'merchantReferenceId' | 'merchantName' | 'totalRupiah' | 'expiresAt'
>;

/** How a card is written, and whether its money is real. */
interface CardLook {
  readonly language: Language;
  readonly isSandbox: boolean;
}

const TOP = 32;
const BOTTOM: CardText = { kind: 'text', text: '', size: TOP, gap: 0 };

const headOf = ({ merchantName, totalRupiah }: CodePayment, { language, isSandbox }: CardLook): CardText[] => [
  ...(isSandbox ? [environmentLine(SANDBOX_TEXTS[language])] : []),
  { kind: 'text', text: merchantName, size: 30, isBold: true, gap: TOP },
  { kind: 'text', text: formatRupiah(totalRupiah), size: 54, isBold: true, gap: 0 },
];

/** The code for the gallery of a phone: what to pay until when, and the name that the app shows. */
export function codeCard(payload: string, payment: CodePayment, look: CardLook): Card {
  const { language } = look;
  const texts = TEXTS[language];
  const shop = shopOf(payload);
  const numbers = [
    ...(payment.merchantReferenceId === null ? [] : [[texts.facts.order, payment.merchantReferenceId] as const]),
    [texts.facts.reference, payment.referenceId] as const,
    ...(shop === null || shop.nmid === null ? [] : [[texts.facts.nmid, shop.nmid] as const]),
  ];
  const deadline = `${texts.payBefore} ${formatTimestamp(payment.expiresAt, language)}`;
  const below: readonly (CardText | CardRow)[] = [
    ...(shop !== null
      ? ([
          { kind: 'text', text: texts.appShows, size: 19, isDim: true, gap: 0 },
          { kind: 'text', text: shop.merchantName, size: 28, isBold: true, gap: 0 },
        ] as const)
      : []),
    { kind: 'text', text: deadline, size: 22, gap: 12 },
    ...rowsOf(numbers),
    BOTTOM,
  ];
  return { above: headOf(payment, look), payload, below, mark: markOf(look) };
}

/** The receipt of a payment that was paid. */
export function receiptCard(payment: CheckoutPayment, nowMs: number, look: CardLook): Card {
  const { language } = look;
  const { states, facts } = TEXTS[language];
  const rows = factsOf(payment, nowMs).map(
    ([name, value]) => [facts[name], value instanceof Date ? formatTimestamp(value, language) : value] as const,
  );
  const title: CardText = {
    kind: 'text',
    text: states[checkoutStateOf(payment, nowMs)].title,
    size: 22,
    isDim: true,
    gap: 4,
  };
  const above = [...headOf(payment, look), title, ...rowsOf(rows), BOTTOM];
  return { above, payload: null, below: [], mark: markOf(look) };
}

function environmentLine({ name, explanation }: EnvironmentTexts): CardText {
  return { kind: 'text', text: `${name} · ${explanation}`, size: 20, isBold: true, gap: TOP };
}

/** What stands all over a card whose money is not real. */
function markOf({ language, isSandbox }: CardLook): string | null {
  return isSandbox ? SANDBOX_TEXTS[language].name : null;
}

function rowsOf(values: readonly (readonly [name: string, value: string])[]): CardRow[] {
  return values.map(([name, value], index) => ({ kind: 'row', name, value, gap: index === 0 ? 20 : 0 }));
}
