import type { ReactElement } from 'react';
import { rolesWith } from '../../domain/member-roles';
import type { ProblemVisit } from '../page/page-app';
import { SIGN_IN_PATHS } from '../page/return-paths';
import { Icon } from '../ui/icon';
import { Card } from '../ui/layout';
import { renderMerchantPage } from './merchant-page';
import { merchantView, type MerchantView } from './merchant-view';
import { renderMessagePage, type MessagePageProps } from './message-page';
import { DASHBOARD_TEXTS } from './texts/texts';

/** The page of a problem, in the user's language. Of a member it is in the frame of the merchant. */
export function renderProblemPage(installation: Parameters<typeof merchantView>[0], visit: ProblemVisit): string {
  const message = { language: visit.language, ...messageOf(visit) };
  if (visit.member === undefined || visit.problem === 'signed_out') return renderMessagePage(message);
  const view = merchantView(installation, visit.member);
  return renderMerchantPage(view, {
    title: message.title,
    current: areaOf(view),
    live: 'none',
    children: <Problem {...message} icon={visit.problem === 'not_found' ? 'search' : 'alert'} />,
  });
}

/** Needs neither PostgreSQL nor a session. */
function messageOf({ problem, language, requestId, access, retryAfterSeconds }: ProblemVisit) {
  const texts = DASHBOARD_TEXTS[language];
  const { title, text } = texts.problems[problem];
  const lines = [text];
  if (problem === 'too_many_requests' && retryAfterSeconds !== undefined) lines.push(texts.waitFor(retryAfterSeconds));
  if (problem === 'failed') lines.push(requestId);
  if (problem === 'forbidden' && typeof access === 'object') {
    lines.push(texts.permitted(rolesWith(access.area, access.level).map((role) => texts.roles[role])));
  }
  return { title, lines, links: linksOf(problem, texts) };
}

function Problem({ title, lines, links, icon }: MessagePageProps & { icon: 'search' | 'alert' }): ReactElement {
  return (
    <Card>
      <div className="empty">
        <span className="disc">
          <Icon name={icon} />
        </span>
        <h1>{title}</h1>
        {lines.map((line) => (
          <p key={line} className="text">
            {line}
          </p>
        ))}
        {links.map(({ href, label }) => (
          <a key={href} className="button" href={href}>
            {label}
          </a>
        ))}
      </div>
    </Card>
  );
}

/** The parts of the menu, by the beginning of their addresses. */
const AREAS: Readonly<Partial<Record<string, keyof MerchantView['texts']['menu']>>> = {
  payments: 'payments',
  balance: 'balance',
  payouts: 'payouts',
  'bank-account': 'bankAccount',
  developers: 'developers',
  team: 'team',
  activity: 'activity',
  settings: 'settings',
};

/** The part of the menu to which the address belongs: `/m/CODE/payments/…`. */
const areaOf = ({ path }: MerchantView) => AREAS[path.split('/')[3] ?? ''] ?? null;

function linksOf(problem: ProblemVisit['problem'], texts: (typeof DASHBOARD_TEXTS)['id']): MessagePageProps['links'] {
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
