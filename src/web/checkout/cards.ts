import type { Language } from '../../domain/sign-in';
import type { Card, CardRow, CardText } from '../../qris/card';
import { parseQris } from '../../qris/qris';
import { checkoutStateOf, type CheckoutPayment } from './checkout-state';
import { factsOf } from './facts';
import { formatRupiah, formatTimestamp, TEXTS } from './texts';

/** What the image of a code shows of its payment. */
export type CodePayment = Pick<
  CheckoutPayment,
  'referenceId' | 'merchantReferenceId' | 'merchantName' | 'totalRupiah' | 'expiresAt'
>;

const TOP = 32;
const BOTTOM: CardText = { kind: 'text', text: '', size: TOP, gap: 0 };

const headOf = ({ merchantName, totalRupiah }: CodePayment): CardText[] => [
  { kind: 'text', text: merchantName, size: 30, isBold: true, gap: TOP },
  { kind: 'text', text: formatRupiah(totalRupiah), size: 54, isBold: true, gap: 0 },
];

/** The code for the gallery of a phone: what to pay until when, and the name that the app shows. */
export function codeCard(payload: string, payment: CodePayment, language: Language): Card {
  const texts = TEXTS[language];
  const qris = parseQris(payload);
  const numbers = [
    ...(payment.merchantReferenceId === null ? [] : [[texts.facts.order, payment.merchantReferenceId] as const]),
    [texts.facts.reference, payment.referenceId] as const,
  ];
  const deadline = `${texts.payBefore} ${formatTimestamp(payment.expiresAt, language)}`;
  const below: readonly (CardText | CardRow)[] = [
    ...(qris.ok
      ? ([
          { kind: 'text', text: texts.appShows, size: 19, isDim: true, gap: 0 },
          { kind: 'text', text: qris.value.merchantName, size: 28, isBold: true, gap: 0 },
        ] as const)
      : []),
    { kind: 'text', text: deadline, size: 22, gap: 12 },
    ...rowsOf(numbers),
    BOTTOM,
  ];
  return { above: headOf(payment), payload, below };
}

/** The receipt of a payment that was paid. */
export function receiptCard(payment: CheckoutPayment, language: Language, nowMs: number): Card {
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
  return { above: [...headOf(payment), title, ...rowsOf(rows), BOTTOM], payload: null, below: [] };
}

function rowsOf(values: readonly (readonly [name: string, value: string])[]): CardRow[] {
  return values.map(([name, value], index) => ({ kind: 'row', name, value, gap: index === 0 ? 20 : 0 }));
}
