import type { ReactElement, ReactNode } from 'react';
import { renderDocument, type Liveness } from '../ui/document';
import { SANDBOX_TEXTS } from '../ui/environment-bar';
import { ZONE_NAMES } from '../ui/format';
import { Notice } from '../ui/layout';
import { BareShell, Shell } from '../ui/shell';
import { activityPath } from './activity/activity-paths';
import { balancePath } from './balance/balance-paths';
import { bankAccountPath } from './bank-account/bank-account-paths';
import { counterPath, manifestPath } from './counter/counter-paths';
import { DASHBOARD_FILES } from './files';
import { keysPath } from './keys/key-paths';
import { homePath, type MerchantView } from './merchant-view';
import { paymentsPath } from './payments/payment-paths';
import { payoutsPath } from './payouts/payout-paths';
import { languagePath } from './session/session-paths';
import { settingsPath } from './settings/settings-paths';
import { teamPath } from './team/team-paths';

interface MerchantPageProps {
  readonly title: string;
  readonly current: keyof MerchantView['texts']['menu'] | null;
  readonly live: Liveness;
  /** A browser without scripts loads the page again by itself. */
  readonly reloads?: boolean;
  /** The page itself shows why nothing can be done at present. */
  readonly showsState?: boolean;
  /** What this page loads in addition. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** Without the menu: a customer looks at it, too. */
  readonly isBare?: boolean;
  /** The page belongs to the app that can be installed. */
  readonly isApp?: boolean;
  readonly children: ReactNode;
}

/** A page of a merchant as HTML: the frame with menu and user, and the content. */
export function renderMerchantPage(view: MerchantView, page: MerchantPageProps): string {
  return renderDocument({
    title: `${page.title} · ${view.merchantName}`,
    language: view.locale.language,
    files: DASHBOARD_FILES,
    live: page.live,
    ...(page.reloads !== undefined && { reloads: page.reloads }),
    ...(page.styles && { styles: page.styles }),
    ...(page.scripts && { scripts: page.scripts }),
    ...(page.isApp && { manifest: manifestPath.to({}, { code: view.code }) }),
    children: page.isBare ? <BarePage view={view} page={page} /> : <MerchantPage view={view} page={page} />,
  });
}

interface FramedPage {
  readonly view: MerchantView;
  readonly page: MerchantPageProps;
}

function MerchantPage({ view, page }: FramedPage): ReactElement {
  const { texts, locale } = view;
  const items = [
    { name: 'home', area: 'payments', href: homePath.to(view) },
    { name: 'counter', area: 'payments', level: 'manage', href: counterPath.to(view) },
    { name: 'payments', area: 'payments', href: paymentsPath.to(view) },
    { name: 'balance', area: 'balance', href: balancePath.to(view) },
    { name: 'payouts', area: 'payouts', href: payoutsPath.to(view) },
    { name: 'bankAccount', area: 'bank_account', href: bankAccountPath.to(view) },
    { name: 'developers', area: 'developers', href: keysPath.to(view) },
    { name: 'team', area: 'team', href: teamPath.to(view) },
    { name: 'activity', area: 'activity', href: activityPath.to(view) },
    { name: 'settings', area: 'settings', href: settingsPath.to(view) },
  ] as const;
  const visible = items.filter(({ area, ...item }) => {
    const level = 'level' in item ? item.level : 'view';
    return view.rightRejection(area, level) === null;
  });
  const notes = [view.roleName, ZONE_NAMES[locale.zone], view.isDevelopmentSession ? texts.developmentSession : ''];
  return (
    <Shell
      texts={{
        skip: texts.skip,
        menu: texts.menuName,
        signOut: texts.signOut,
        ...environmentOf(view),
      }}
      home={homePath.to(view)}
      merchantName={view.merchantName}
      merchantNote="Lunas"
      userName={view.userName}
      userNote={notes.filter(Boolean).join(' · ')}
      menu={visible.map(({ name, href }) => ({
        icon: name,
        label: texts.menu[name],
        href,
        isCurrent: page.current === name,
      }))}
      settings={
        <>
          <LanguageForm view={view} />
          <a href="/profile/security">{texts.profile}</a>
        </>
      }
    >
      <Content view={view} page={page} />
    </Shell>
  );
}

function BarePage({ view, page }: FramedPage): ReactElement {
  return (
    <BareShell texts={environmentOf(view)}>
      <Content view={view} page={page} />
    </BareShell>
  );
}

/** The bar of the sandbox. */
const environmentOf = ({ isSandbox, locale }: MerchantView) =>
  isSandbox ? { environment: SANDBOX_TEXTS[locale.language] } : {};

function Content({ view: { texts, merchantState }, page }: FramedPage): ReactElement {
  return (
    <div className="stack">
      {merchantState && !page.showsState && (
        <Notice tone="warning">
          <p>{texts.merchantStates[merchantState]}</p>
        </Notice>
      )}
      <div>{page.children}</div>
    </div>
  );
}

function LanguageForm({ view: { texts, locale, path } }: { readonly view: MerchantView }): ReactElement {
  const other = locale.language === 'id' ? 'en' : 'id';
  return (
    <form method="post" action={languagePath.to({})}>
      <input type="hidden" name="language" value={other} />
      <input type="hidden" name="then" value={path} />
      <button className="link-button" lang={other}>
        {texts.otherLanguage}
      </button>
    </form>
  );
}
