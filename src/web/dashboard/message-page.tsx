import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { renderDocument } from '../ui/document';
import { Logo } from '../ui/shell';
import { DASHBOARD_FILES } from './files';

export interface MessagePageProps {
  readonly language: Language;
  readonly title: string;
  readonly lines: readonly string[];
  readonly links: readonly { readonly href: string; readonly label: string }[];
}

/** A page of its own with a short text, outside of the frame of a merchant. */
export function renderMessagePage(props: MessagePageProps): string {
  return renderDocument({
    title: `${props.title} · Lunas`,
    language: props.language,
    files: DASHBOARD_FILES,
    live: 'none',
    className: 'message-page',
    children: <Message {...props} />,
  });
}

function Message({ title, lines, links }: MessagePageProps): ReactElement {
  return (
    <main>
      <div className="stack">
        <span className="brand">
          <Logo />
          <b>Lunas</b>
        </span>
        <h1>{title}</h1>
        {lines.map((line) => (
          <p key={line}>{line}</p>
        ))}
        {links.map(({ href, label }) => (
          <a key={href} className="button wide-button" href={href}>
            {label}
          </a>
        ))}
      </div>
    </main>
  );
}
