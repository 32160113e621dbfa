import type { ReactElement } from 'react';
import { formatUnbroken } from '../../domain/money';
import { formatCountdown, formatTime, type Locale, type TimeStyle } from './format';

interface TimeProps {
  readonly at: Date;
  readonly style: TimeStyle;
  readonly locale: Locale;
}

/** A time in the merchant's zone; the exact one, in UTC, is its title. */
export function Time({ at, style, locale }: TimeProps): ReactElement {
  const exact = at.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {formatTime(at, style, locale)}
    </time>
  );
}

/** `Rp 50.000`, which never breaks; `−Rp 350` if it is below zero. */
export function Money({ rupiah }: { readonly rupiah: number }): ReactElement {
  return <Amount sign={rupiah < 0 ? '−' : ''} rupiah={rupiah} />;
}

/** A change of an amount: `+Rp 50.000` or `−Rp 350`. */
export function SignedMoney({ rupiah }: { readonly rupiah: number }): ReactElement {
  return <Amount sign={rupiah > 0 ? '+' : rupiah < 0 ? '−' : ''} rupiah={rupiah} />;
}

function Amount({ sign, rupiah }: { readonly sign: string; readonly rupiah: number }): ReactElement {
  return <span className="unbroken">{sign + formatUnbroken(Math.abs(rupiah))}</span>;
}

interface IdProps {
  readonly value: string;
  readonly copy: { readonly label: string; readonly done: string };
}

/** An identifier, with a button that copies it if the browser runs the script. */
export function Id({ value, copy }: IdProps): ReactElement {
  return (
    <>
      <code>{value}</code>
      <button type="button" className="copy" data-copy={value} data-copied={copy.done} hidden>
        {copy.label}
      </button>
    </>
  );
}

/** The time left by the server's clock, counted down by the script. */
export function Countdown({ leftMs }: { readonly leftMs: number }): ReactElement {
  return (
    <span role="timer" aria-live="off" data-left-ms={leftMs}>
      {formatCountdown(leftMs)}
    </span>
  );
}
