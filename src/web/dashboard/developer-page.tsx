import type { ReactElement, ReactNode } from 'react';
import type { Liveness } from '../ui/document';
import type { MenuItem } from '../ui/shell';
import { keysPath } from './keys/key-paths';
import { renderMerchantPage } from './merchant-page';
import type { MerchantView } from './merchant-view';
import { requestsPath } from './requests/request-paths';
import { deliveriesPath, endpointsPath } from './webhooks/webhook-paths';

interface DeveloperPageProps {
  readonly title: string;
  readonly section: 'keys' | 'webhooks' | 'deliveries' | 'requests';
  readonly live: Liveness;
  readonly children: ReactNode;
}

/** A page of the area "Developers" as HTML: as a page of a merchant, with the sections of the area above it. */
export function renderDeveloperPage(view: MerchantView, page: DeveloperPageProps): string {
  const { title, section, live, children } = page;
  const { texts } = view;
  const sections = [
    { name: 'keys', href: keysPath.to(view) },
    { name: 'webhooks', href: endpointsPath.to(view) },
    { name: 'deliveries', href: deliveriesPath.to(view) },
    { name: 'requests', href: requestsPath.to(view) },
  ] as const;
  const items = sections.map(({ name, href }) => ({
    label: texts.developers[name],
    href,
    isCurrent: name === section,
  }));
  return renderMerchantPage(view, {
    title,
    current: 'developers',
    live,
    children: (
      <>
        <SubNav name={texts.developers.name} items={items} />
        {children}
      </>
    ),
  });
}

/** The pages of one area, above the title of each of them. */
function SubNav({ name, items }: { readonly name: string; readonly items: readonly MenuItem[] }): ReactElement {
  return (
    <nav className="sub-nav no-print" aria-label={name}>
      <ul>
        {items.map(({ label, href, isCurrent }) => (
          <li key={href}>
            <a href={href} aria-current={isCurrent ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
