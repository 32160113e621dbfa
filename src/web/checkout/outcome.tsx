import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import type { CheckoutPage } from './checkout-state';
import { factsOf, hasReceipt } from './facts';
import { OUTCOME_ICONS, type OutcomeIcon, type OutcomeName } from './icons';
import { formatTimestamp, TEXTS, type StateTexts } from './texts';

interface OutcomeProps {
  readonly outcome: OutcomeName;
  readonly texts: StateTexts;
}

export function Outcome({ outcome, texts }: OutcomeProps): ReactElement {
  return (
    <>
      <Disc icon={OUTCOME_ICONS[outcome]} />
      <h1>{texts.title}</h1>
      <p>{texts.explanation}</p>
    </>
  );
}

/** What happened, as a drawing. */
export function Disc({ icon: { path, tone } }: { readonly icon: OutcomeIcon }): ReactElement {
  return (
    <svg className={`icon ${tone}`} viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="12" />
      <path d={path} />
    </svg>
  );
}

export function Facts({ payment, language, nowMs }: CheckoutPage): ReactElement {
  return (
    <dl>
      {factsOf(payment, nowMs).map(([name, value]) => (
        <div key={name}>
          <dt>{TEXTS[language].facts[name]}</dt>
          <dd className={name === 'reference' ? 'whole' : undefined}>
            {value instanceof Date ? <Time at={value} language={language} isExact={name === 'paid'} /> : value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface TimeProps {
  readonly at: Date;
  readonly language: Language;
  /** With seconds: a cashier compares it. */
  readonly isExact: boolean;
}

function Time({ at, language, isExact }: TimeProps): ReactElement {
  return <time dateTime={at.toISOString()}>{formatTimestamp(at, language, isExact ? 'second' : 'minute')}</time>;
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

/** What the customer keeps: an image, and a print if there is a script. */
export function Receipt({ payment, path, language, nowMs }: CheckoutPage): ReactElement | null {
  if (!hasReceipt(payment, nowMs)) return null;
  const texts = TEXTS[language];
  return (
    <div className="receipt">
      <a
        className="button quiet"
        href={`${path}/receipt.png?lang=${language}`}
        download={`receipt-${payment.referenceId}.png`}
      >
        {texts.saveReceipt}
      </a>
      <button type="button" className="quiet" data-print="" hidden>
        {texts.print}
      </button>
    </div>
  );
}
