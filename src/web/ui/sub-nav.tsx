import type { ReactElement } from 'react';
import type { MenuItem } from './shell';

/** The pages of one area, above the title of each of them. */
export function SubNav({ name, items }: { readonly name: string; readonly items: readonly MenuItem[] }): ReactElement {
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
