import { rolesWith } from '../../domain/member-roles';
import type { ProblemVisit } from '../page/page-app';
import { SIGN_IN_PATHS } from '../page/return-paths';
import { renderMessagePage } from './message-page';
import { DASHBOARD_TEXTS } from './texts/texts';

/** The page of a problem, in the user's language. It needs neither PostgreSQL nor a session. */
export function renderProblemPage({ problem, language, requestId, access, retryAfterSeconds }: ProblemVisit): string {
  const texts = DASHBOARD_TEXTS[language];
  const { title, text } = texts.problems[problem];
  const lines = [text];
  if (problem === 'too_many_requests' && retryAfterSeconds !== undefined) lines.push(texts.waitFor(retryAfterSeconds));
  if (problem === 'failed') lines.push(requestId);
  if (problem === 'forbidden' && typeof access === 'object') {
    lines.push(texts.permitted(rolesWith(access.area, access.level).map((role) => texts.roles[role])));
  }
  return renderMessagePage({ language, title, lines, links: linksOf(problem, texts) });
}

type Links = Parameters<typeof renderMessagePage>[0]['links'];

function linksOf(problem: ProblemVisit['problem'], texts: (typeof DASHBOARD_TEXTS)['id']): Links {
  switch (problem) {
    case 'signed_out':
      return [{ href: SIGN_IN_PATHS.login, label: texts.signIn }];
    case 'wrong_host':
      return [];
    case 'unavailable':
    case 'too_many_requests':
      return [{ href: '', label: texts.reload }];
    case 'link_used':
    case 'link_invalid':
    case 'not_found':
    case 'forbidden':
    case 'cross_site':
    case 'too_large':
    case 'not_received':
    case 'failed':
      return [{ href: SIGN_IN_PATHS.home, label: texts.backHome }];
  }
}
