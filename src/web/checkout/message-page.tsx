import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { renderDocument } from './document';
import type { OutcomeName } from './icons';
import { Outcome } from './outcome';
import { TEXTS, type PageFailure, type StateTexts } from './texts';

type TextsOfUnknown = Readonly<Record<Language, { readonly unknown: StateTexts }>>;

/** A page without a payment: what happened, and what its reader does next. */
interface Message {
  readonly outcome: OutcomeName;
  readonly texts: StateTexts;
  readonly next: ReactElement;
}

/** The page of an address that is that of no payment or of no link, as HTML. */
export function renderUnknownPages(texts: TextsOfUnknown, isSandbox: boolean): Record<Language, string> {
  return renderMessages(isSandbox, (language) => ({
    outcome: 'unknown',
    texts: texts[language].unknown,
    next: <p className="note">{TEXTS[language].unknown.askShop}</p>,
  }));
}

/** The page of a request that failed, as HTML: the payment is as it was, and the customer can send it again. */
export function renderFailedPages(failure: PageFailure, isSandbox: boolean): Record<Language, string> {
  return renderMessages(isSandbox, (language) => ({
    outcome: failure,
    texts: TEXTS[language].failed[failure],
    next: (
      <a className="button" href={`?lang=${language}`}>
        {TEXTS[language].tryAgain}
      </a>
    ),
  }));
}

function renderMessages(isSandbox: boolean, messageIn: (language: Language) => Message): Record<Language, string> {
  const render = (language: Language) => {
    const { outcome, texts, next } = messageIn(language);
    const children = (
      <main className="checkout-card ended">
        <Outcome outcome={outcome} texts={texts} />
        {next}
      </main>
    );
    return renderDocument({ title: texts.title, language, isSandbox, reloads: false, accent: null, children });
  };
  return { id: render('id'), en: render('en') };
}
