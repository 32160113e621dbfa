import type { ReactElement, ReactNode } from 'react';

interface BackLinkProps {
  readonly href: string;
  readonly label: string;
}

/** The way to the page above. */
export function BackLink({ href, label }: BackLinkProps): ReactElement {
  return (
    <a className="back-link no-print" href={href}>
      <span aria-hidden="true">‹ </span>
      {label}
    </a>
  );
}

interface PageHeadProps {
  readonly title: ReactNode;
  readonly back?: BackLinkProps;
  readonly children?: ReactNode;
}

/** The title of a page, the way back, and its main actions. */
export function PageHead({ title, back, children }: PageHeadProps): ReactElement {
  return (
    <>
      {back && <BackLink {...back} />}
      <div className="page-head">
        <h1>{title}</h1>
        {children}
      </div>
    </>
  );
}

interface CardProps {
  readonly title?: string | undefined;
  readonly aside?: ReactNode;
  readonly part?: string;
  readonly version?: string;
  readonly children: ReactNode;
}

/** A framed part of a page. With `part`, the script replaces it when it has another version. */
export function Card({ title, aside, part, version, children }: CardProps): ReactElement {
  return (
    <section className="card" data-part={part} data-version={version}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

interface NoticeProps {
  readonly tone: 'good' | 'warning' | 'bad' | 'info';
  readonly children: ReactNode;
}

export function Notice({ tone, children }: NoticeProps): ReactElement {
  return (
    <div className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

interface DoneNoticeProps {
  /** Without a text there is nothing. */
  readonly text: string | false | null | undefined;
  /** Whether the notice ends when the page shows the next status. */
  readonly isLive?: true;
}

/** What the user has done just before. */
export function DoneNotice({ text, isLive }: DoneNoticeProps): ReactElement | null {
  const notice = text ? (
    <Notice tone="good">
      <p>{text}</p>
    </Notice>
  ) : null;
  if (!isLive) return notice;
  return (
    <div data-part="done" data-version={text || ''}>
      {notice}
    </div>
  );
}

export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
  readonly isTotal?: boolean;
}

export function Facts({ facts }: { readonly facts: readonly Fact[] }): ReactElement {
  return (
    <dl className="facts">
      {facts.map(({ name, value, isTotal }) => (
        <div key={name} className={isTotal ? 'total' : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
