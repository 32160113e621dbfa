import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { checkoutStateOf, type CheckoutPage, type CheckoutPayment, type CheckoutState } from './checkout-state';
import { formatRupiah, formatTimestamp, TEXTS, type FactName, type StateTexts } from './texts';

const CLOCK = 'M12 7v5l3.5 2';
const RETURN = 'M9.5 7 6.5 10l3 3M6.5 10h7a3.5 3.5 0 0 1 0 7H10';
const CROSS = 'm8.5 8.5 7 7m0-7-7 7';

/** The path in a circle of 24 units. The style sheet has the colour of each state. */
const ICONS: Readonly<Record<CheckoutState, string>> = {
  preparing: CLOCK,
  waiting: CLOCK,
  checking: CLOCK,
  paid: 'm7 12.5 3.5 3.5L17 9',
  refund_processing: RETURN,
  refund_failed: 'M12 7v6m0 3.5v.1',
  refunded: RETURN,
  expired: CLOCK,
  cancelled: CROSS,
  failed: CROSS,
};

export function Outcome({ state, texts }: { readonly state: CheckoutState; readonly texts: StateTexts }): ReactElement {
  return (
    <>
      <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="12" />
        <path d={ICONS[state]} />
      </svg>
      <h1>{texts.title}</h1>
      <p>{texts.explanation}</p>
    </>
  );
}

/** After these, the customer has something to keep. */
const RECEIPT_STATES: ReadonlySet<CheckoutState> = new Set(['paid', 'refund_processing', 'refund_failed', 'refunded']);

type Fact = readonly [name: FactName, value: string | Date];

/** The time of the end, and the amount if it stands nowhere else. */
function endOf({ totalRupiah, expiresAt, updatedAt }: CheckoutPayment, state: CheckoutState): Fact[] {
  if (state === 'refunded') return [[state, updatedAt]];
  if (state === 'checking' || state === 'expired') {
    return [
      ['total', formatRupiah(totalRupiah)],
      ['expired', expiresAt],
    ];
  }
  if (state !== 'cancelled' && state !== 'failed') return [];
  return [
    ['total', formatRupiah(totalRupiah)],
    [state, updatedAt],
  ];
}

export function Facts({ payment, language, nowMs }: CheckoutPage): ReactElement {
  const { merchantReferenceId, description, paidAt, referenceId } = payment;
  const state = checkoutStateOf(payment, nowMs);
  const facts: readonly Fact[] = [
    ...(merchantReferenceId === null ? [] : [['order', merchantReferenceId] as const]),
    ...(description === null ? [] : [['description', description] as const]),
    ...(paidAt !== null && RECEIPT_STATES.has(state) ? [['paid', paidAt] as const] : []),
    ...endOf(payment, state),
    ['reference', referenceId],
  ];
  return (
    <dl>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{TEXTS[language].facts[name]}</dt>
          <dd>{value instanceof Date ? <Time at={value} language={language} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Time({ at, language }: { readonly at: Date; readonly language: Language }): ReactElement {
  return <time dateTime={at.toISOString()}>{formatTimestamp(at, language)}</time>;
}

/** Shown by the script to a customer who has just paid on this page. */
export function Returning({ language }: { readonly language: Language }): ReactElement {
  const { returning, stay } = TEXTS[language];
  const [before, after] = returning;
  return (
    <p className="returning" data-returning="" hidden>
      {before} <strong>5</strong> {after}{' '}
      <button type="button" className="link">
        {stay}
      </button>
    </p>
  );
}

/** The button needs the script. */
export function Receipt({ payment, language, nowMs }: CheckoutPage): ReactElement | null {
  if (!RECEIPT_STATES.has(checkoutStateOf(payment, nowMs))) return null;
  return (
    <button type="button" className="quiet" data-print="" hidden>
      {TEXTS[language].print}
    </button>
  );
}
