import type { Language } from '../../domain/sign-in';
import { renderDocument } from './document';
import { OUTCOME_ICONS } from './icons';
import { Disc } from './outcome';
import { TEXTS, type PageFailure } from './texts';

/** The page of a request that failed, as HTML: the payment is as it was, and the customer can send it again. */
export function renderFailedPages(isSandbox: boolean): Record<PageFailure, Record<Language, string>> {
  const render = (failure: PageFailure) => ({
    id: renderFailed(failure, 'id', isSandbox),
    en: renderFailed(failure, 'en', isSandbox),
  });
  return { busy: render('busy'), unavailable: render('unavailable') };
}

function renderFailed(failure: PageFailure, language: Language, isSandbox: boolean): string {
  const { failed, tryAgain } = TEXTS[language];
  const { title, explanation } = failed[failure];
  const children = (
    <main className="checkout-card ended">
      <Disc icon={OUTCOME_ICONS[failure]} />
      <h1>{title}</h1>
      <p>{explanation}</p>
      <a className="button" href={`?lang=${language}`}>
        {tryAgain}
      </a>
    </main>
  );
  return renderDocument({ title, language, isSandbox, reloads: false, accent: null, children });
}
