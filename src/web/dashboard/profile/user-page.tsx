import type { ReactElement, ReactNode } from 'react';
import type { Language } from '../../../domain/sign-in';
import { renderDocument } from '../../ui/document';
import { SANDBOX_TEXTS } from '../../ui/environment-bar';
import { WIB, type Locale } from '../../ui/format';
import { DoneNotice } from '../../ui/layout';
import { Shell } from '../../ui/shell';
import { DASHBOARD_FILES } from '../files';
import { DASHBOARD_TEXTS } from '../texts/texts';
import { PROFILE_TEXTS, type ProfileTexts } from './profile-texts';

/** What the pages of a user show, whatever the merchant. */
export interface UserView {
  readonly language: Language;
  readonly userName: string;
  readonly email: string;
  readonly isSandbox: boolean;
  readonly isDevelopmentSession: boolean;
  /** What the user has just done. */
  readonly done: keyof ProfileTexts['done'] | null;
}

/** A user has no zone of their own. */
export const localeOf = ({ language }: UserView): Locale => ({ language, zone: WIB });

interface UserPage {
  readonly title: string;
  readonly current: 'profile' | 'security';
  /** What the page loads in addition. */
  readonly scripts?: readonly string[];
  readonly children: ReactNode;
}

/** A page of the user: the frame without a merchant. */
export function renderUserPage(view: UserView, page: UserPage): string {
  return renderDocument({
    title: `${page.title} · Lunas`,
    language: view.language,
    files: DASHBOARD_FILES,
    live: 'none',
    scripts: page.scripts ?? [],
    children: <FramedPage view={view} page={page} />,
  });
}

function FramedPage({ view, page }: { readonly view: UserView; readonly page: UserPage }): ReactElement {
  const { language, done } = view;
  const texts = DASHBOARD_TEXTS[language];
  const profile = PROFILE_TEXTS[language];
  const menu = [
    { icon: 'home', label: profile.merchants, href: '/', isCurrent: false },
    { icon: 'team', label: profile.profile, href: '/profile', isCurrent: page.current === 'profile' },
    { icon: 'settings', label: profile.security, href: '/profile/security', isCurrent: page.current === 'security' },
  ] as const;
  const { skip, menuName, signOut, developmentSession } = texts;
  return (
    <Shell
      texts={{ skip, menu: menuName, signOut, ...(view.isSandbox && { environment: SANDBOX_TEXTS[language] }) }}
      home="/"
      merchantName="Lunas"
      merchantNote={profile.profile}
      userName={view.userName}
      userNote={[view.email, view.isDevelopmentSession ? developmentSession : ''].filter(Boolean).join(' · ')}
      menu={menu}
      settings={null}
    >
      <div className="stack">
        <DoneNotice text={done && profile.done[done]} />
        <div>{page.children}</div>
      </div>
    </Shell>
  );
}
