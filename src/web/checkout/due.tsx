import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { PayOnPhone, type ImageLink } from './code';
import { formatRupiah, formatTimestamp, TEXTS } from './texts';
import type { TimeLeft } from './time-left';

interface DueProps {
  readonly language: Language;
  readonly totalRupiah: number;
  readonly expiresAt: Date;
  readonly timeLeft: TimeLeft;
  readonly image: ImageLink;
  /** A sample on another page is no heading of it. */
  readonly heading: 'h1' | 'p';
}

/** What is to be paid until when, and the button of a phone. */
export function Due({ heading: Heading, ...due }: DueProps): ReactElement {
  const texts = TEXTS[due.language];
  return (
    <div className="due">
      <Heading className="task">{texts.states.waiting.title}</Heading>
      <Amount label={texts.total} totalRupiah={due.totalRupiah} />
      <Deadline {...due} />
      <PayOnPhone {...due} />
    </div>
  );
}

interface AmountProps {
  readonly totalRupiah: number;
  readonly label: string;
  /** Whether the payment is not to be paid any more. */
  readonly isPast?: boolean;
}

export function Amount({ totalRupiah, label, isPast = false }: AmountProps): ReactElement {
  return (
    <p className={isPast ? 'amount past' : 'amount'}>
      <span className="unseen">{label}: </span>
      {formatRupiah(totalRupiah)}
    </p>
  );
}

type DeadlineProps = Pick<DueProps, 'expiresAt' | 'language' | 'timeLeft'>;

function Deadline({ expiresAt, language, timeLeft }: DeadlineProps): ReactElement {
  const texts = TEXTS[language];
  return (
    <p className="deadline" data-payable="" data-urgency={timeLeft.urgency}>
      <span className="countdown">
        {texts.timeLeft}{' '}
        <strong
          role="timer"
          aria-live="off"
          data-five-minutes={texts.fiveMinutesLeft}
          data-one-minute={texts.oneMinuteLeft}
          data-end={texts.states.checking.title}
        >
          {timeLeft.countdown}
        </strong>
      </span>
      <span>
        {texts.payBefore} <time dateTime={expiresAt.toISOString()}>{formatTimestamp(expiresAt, language)}</time>
      </span>
    </p>
  );
}
