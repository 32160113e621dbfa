import type { ReactElement, ReactNode } from 'react';
import { SIGN_IN_PATHS } from '../page/return-paths';
import { EnvironmentBar, type EnvironmentTexts } from './environment-bar';
import { Icon, IconShapes, type IconName } from './icon';

export interface MenuItem {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** The areas of the menu have icons, the pages of one area have none. */
interface MainMenuItem extends MenuItem {
  readonly icon: IconName;
}

export interface ShellTexts {
  readonly skip: string;
  readonly menu: string;
  readonly signOut: string;
  /** Absent in production. */
  readonly environment?: EnvironmentTexts;
}

export interface ShellProps {
  readonly texts: ShellTexts;
  readonly home: string;
  readonly merchantName: string;
  readonly merchantNote: string;
  readonly userName: string;
  readonly userNote: string;
  readonly menu: readonly MainMenuItem[];
  /** What stands beside the user, such as the choice of the language. */
  readonly settings: ReactNode;
  readonly children: ReactNode;
}

/** The frame of every page of a merchant: environment, menu, user. */
export function Shell(props: ShellProps): ReactElement {
  const { texts, children } = props;
  return (
    <>
      <IconShapes />
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      {texts.environment && <EnvironmentBar {...texts.environment} />}
      <div className="frame">
        <header className="side">
          <Brand {...props} />
          <nav aria-label={texts.menu}>
            <Menu menu={props.menu} />
          </nav>
          <Person {...props} />
        </header>
        <header className="top">
          <details>
            <summary>
              <span className="brand">
                <Logo />
                <span>
                  <b>{props.merchantName}</b>
                  <small>{props.merchantNote}</small>
                </span>
              </span>
              <span className="bars" aria-hidden="true">
                ☰
              </span>
              <span className="unseen">{texts.menu}</span>
            </summary>
            <nav aria-label={texts.menu}>
              <Menu menu={props.menu} />
              <Person {...props} />
            </nav>
          </details>
        </header>
        <main id="content">{children}</main>
      </div>
    </>
  );
}

type BareShellProps = Pick<ShellProps, 'children'> & { readonly texts: Pick<ShellTexts, 'environment'> };

/** The frame of a page that a customer looks at, too: without menu and user. */
export function BareShell({ texts, children }: BareShellProps): ReactElement {
  return (
    <>
      <IconShapes />
      {texts.environment && <EnvironmentBar {...texts.environment} />}
      <main id="content">{children}</main>
    </>
  );
}

function Brand({ home, merchantName, merchantNote }: ShellProps): ReactElement {
  return (
    <a className="brand" href={home}>
      <Logo />
      <span>
        <b>{merchantName}</b>
        <small>{merchantNote}</small>
      </span>
    </a>
  );
}

export function Logo(): ReactElement {
  return (
    <svg viewBox="0 0 28 28" aria-hidden="true">
      <rect width="28" height="28" rx="7" fill="#0b6b4b" />
      <path
        d="M8 7v14h5M13 14.5l3.2 3.5L21 11"
        fill="none"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

function Menu({ menu }: { readonly menu: readonly MainMenuItem[] }): ReactElement {
  return (
    <ul className="menu">
      {menu.map(({ icon, label, href, isCurrent }) => (
        <li key={href}>
          <a href={href} aria-current={isCurrent ? 'page' : undefined}>
            <Icon name={icon} />
            {label}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Person({ userName, userNote, texts, settings }: ShellProps): ReactElement {
  return (
    <div className="person">
      <p>
        <b>{userName}</b>
        <span className="dim small">{userNote}</span>
      </p>
      {settings}
      <form method="post" action={SIGN_IN_PATHS.logout}>
        <button className="link-button">{texts.signOut}</button>
      </form>
    </div>
  );
}
