import type { Language } from '../../domain/sign-in';
import { renderDocument } from './document';
import { OUTCOME_ICONS } from './icons';
import { Disc } from './outcome';
import { TEXTS, type StateTexts } from './texts';

type TextsOfUnknown = Readonly<Record<Language, { readonly unknown: StateTexts }>>;

/** The page of an address that is that of no payment or of no link, as HTML. */
export function renderUnknownPages(texts: TextsOfUnknown, isSandbox: boolean): Record<Language, string> {
  const render = (language: Language) => renderUnknown(texts[language].unknown, language, isSandbox);
  return { id: render('id'), en: render('en') };
}

function renderUnknown({ title, explanation }: StateTexts, language: Language, isSandbox: boolean): string {
  const children = (
    <main className="checkout-card ended">
      <Disc icon={OUTCOME_ICONS.unknown} />
      <h1>{title}</h1>
      <p>{explanation}</p>
      <p className="note">{TEXTS[language].unknown.askShop}</p>
    </main>
  );
  return renderDocument({ title, language, isSandbox, reloads: false, accent: null, children });
}
