import type { Visit } from '../../page/page-route';

/** A page before the sign-in: `?lang` has the language, of the form too, and a link changes it. */
export function languageLinks(
  { language, session, pending }: Pick<Visit, 'language' | 'session' | 'pending'>,
  path: string,
): { readonly action: string; readonly otherLanguage: string | null } {
  const isKnown = session !== null || pending !== null;
  const separator = path.includes('?') ? '&' : '?';
  const [pathOnly = path] = path.split('?');
  const other = language === 'id' ? 'en' : 'id';
  return { action: `${pathOnly}?lang=${language}`, otherLanguage: isKnown ? null : `${path}${separator}lang=${other}` };
}
