import type { ReactElement } from 'react';
import type { Language } from '../../domain/sign-in';
import { WIB } from '../ui/format';
import { LiveMark } from '../ui/live-mark';
import { checkoutStateOf, isLastPage, isWithoutPayment, payablePayload, type CheckoutPage } from './checkout-state';
import { Code, PayOnPhone, Steps } from './code';
import { renderDocument } from './document';
import { markTimeAt } from './mark-time';
import { Facts, Outcome, Receipt, Returning, Unknown } from './outcome';
import { BackToShop, Contact, Merchant } from './shop';
import { formatRupiah, formatTimestamp, TEXTS } from './texts';
import { timeLeftAt, type TimeLeft } from './time-left';
import { Watermark } from './watermark';

/** The page of a payment in its current state, as HTML. */
export function renderCheckoutPage(page: CheckoutPage): string {
  const { payment, language, isSandbox, nowMs } = page;
  const { title } = TEXTS[language].states[checkoutStateOf(payment, nowMs)];
  return renderDocument({
    title: `${title} · ${payment.merchantName}`,
    language,
    isSandbox,
    reloads: !isLastPage(payment),
    accent: payment.accent,
    children: <Payment {...page} />,
  });
}

/** The page of an unknown token, as HTML. */
export function renderUnknownPage(language: Language, isSandbox: boolean): string {
  const { title, explanation, askShop } = TEXTS[language].unknown;
  const children = (
    <main className="ended">
      <Unknown title={title} explanation={explanation} />
      <p className="note">{askShop}</p>
    </main>
  );
  return renderDocument({ title, language, isSandbox, reloads: false, accent: null, children });
}

function Payment(page: CheckoutPage): ReactElement {
  const { payment, path, statusKey, nowMs } = page;
  const payload = payablePayload(payment, nowMs);
  const timeLeft = page.timeLeft ?? timeLeftAt(nowMs, payment.expiresAt);
  return (
    <main
      className={checkoutStateOf(payment, nowMs)}
      data-events={isLastPage(payment) ? undefined : `${path}/events?seen=${encodeURIComponent(statusKey)}`}
      data-milliseconds-left={payload === null ? undefined : timeLeft.milliseconds}
    >
      {page.isSandbox && <Watermark />}
      <Merchant {...payment} />
      {payload === null ? <Ended {...page} /> : <Waiting page={page} payload={payload} timeLeft={timeLeft} />}
    </main>
  );
}

interface WaitingProps {
  readonly page: CheckoutPage;
  readonly payload: string;
  readonly timeLeft: TimeLeft;
}

/**
 * In the order of a phone: amount, deadline and the way to pay on this device, then the code. A wide page has the code
 * beside all other parts. The script removes `data-payable` when the time is over.
 */
function Waiting({ page, payload, timeLeft }: WaitingProps): ReactElement {
  const { payment, language } = page;
  const texts = TEXTS[language];
  return (
    <div className="panes">
      <div className="due">
        <h1>{texts.states.waiting.title}</h1>
        <Amount label={texts.total} {...page} />
        <Deadline payment={payment} language={language} timeLeft={timeLeft} />
        <PayOnPhone {...page} />
      </div>
      <Code {...page} payload={payload} />
      <div className="more">
        <div data-payable="">
          <Steps title={texts.howToPay} steps={texts.steps} isOpen />
          <Steps title={texts.samePhone} steps={texts.samePhoneSteps} isForPhone />
          <noscript>
            <a className="button quiet" href="?">
              {texts.reload}
            </a>
          </noscript>
        </div>
        <Facts {...page} />
        <BackToShop {...page} isMain={false} />
        <Contact contact={payment.contact} language={language} />
      </div>
    </div>
  );
}

/** A payment that is not to be paid: what happened, what to keep, and the way back. */
function Ended(page: CheckoutPage): ReactElement {
  const { payment, language, nowMs, returnUrl } = page;
  const state = checkoutStateOf(payment, nowMs);
  const isDueNoMore = isWithoutPayment(state);
  const { mark = markTimeAt(payment, language, nowMs) } = page;
  return (
    <>
      <Outcome state={state} texts={TEXTS[language].states[state]} />
      {state === 'paid' && <p className="to-show">{TEXTS[language].showCashier}</p>}
      <Amount label={TEXTS[language].facts.total} {...page} isPast={isDueNoMore} />
      {mark !== null && <LiveMark {...mark} locale={{ language, zone: WIB }} />}
      {isDueNoMore && <p className="note">{TEXTS[language].latePayments[payment.latePayment ?? 'none']}</p>}
      <Facts {...page} />
      {state === 'paid' && returnUrl !== null && <Returning language={language} />}
      <BackToShop {...page} isMain={state !== 'preparing'} />
      <Receipt {...page} />
      <Contact
        contact={payment.contact}
        language={language}
        shop={isDueNoMore && returnUrl === null ? payment.merchantName : null}
      />
    </>
  );
}

interface AmountProps extends CheckoutPage {
  readonly label: string;
  /** Whether the payment is not to be paid any more. */
  readonly isPast?: boolean;
}

function Amount({ payment, label, isPast = false }: AmountProps): ReactElement {
  return (
    <p className={isPast ? 'amount past' : 'amount'}>
      <span className="unseen">{label}: </span>
      {formatRupiah(payment.totalRupiah)}
    </p>
  );
}

type DeadlineProps = Pick<CheckoutPage, 'payment' | 'language'> & { readonly timeLeft: TimeLeft };

function Deadline({ payment, language, timeLeft }: DeadlineProps): ReactElement {
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
        {texts.payBefore}{' '}
        <time dateTime={payment.expiresAt.toISOString()}>{formatTimestamp(payment.expiresAt, language)}</time>
      </span>
    </p>
  );
}
