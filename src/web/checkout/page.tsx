import type { ReactElement, ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../domain/sign-in';
import { drawQrisPath } from '../../qris/image';
import { parseQris } from '../../qris/qris';
import { checkoutStateOf, isLastPage, payablePayload, type CheckoutPayment } from './checkout-state';
import { ICON_ADDRESS, SCRIPT_ADDRESS, STYLE_ADDRESS } from './files';
import { formatDeadline, formatRupiah, TEXTS } from './texts';

export interface CheckoutPage {
  readonly payment: CheckoutPayment;
  /** The path of the page. */
  readonly path: string;
  /** What `GET <path>/events` compares with the current status. */
  readonly statusKey: string;
  /** The address of the shop; null if the merchant has none. */
  readonly returnUrl: string | null;
  readonly language: Language;
  readonly nowMs: number;
  /** By default that of `nowMs`. A template has other texts. */
  readonly timeLeft?: TimeLeft;
}

/** The time until the deadline, as the page contains it: for its script, and to read. */
export interface TimeLeft {
  readonly milliseconds: string;
  readonly countdown: string;
}

export function timeLeftAt(nowMs: number, expiresAt: Date): TimeLeft {
  const milliseconds = expiresAt.getTime() - nowMs;
  return { milliseconds: String(milliseconds), countdown: formatCountdown(milliseconds) };
}

/** Without a script the page reloads itself after this time. */
const RELOAD_SECONDS = 10;

/** The page of a payment in its current state, as HTML. */
export function renderCheckoutPage(page: CheckoutPage): string {
  const { payment, language, nowMs } = page;
  const { title } = TEXTS[language].states[checkoutStateOf(payment, nowMs)];
  return renderDocument(
    <Document title={`${title} · ${payment.merchantName}`} language={language} reloads={!isLastPage(payment)}>
      <Payment {...page} />
    </Document>,
  );
}

/** The page of an unknown token, as HTML. */
export function renderUnknownPage(language: Language): string {
  const { title, explanation } = TEXTS[language].unknown;
  return renderDocument(
    <Document title={title} language={language} reloads={false}>
      <main className="ended">
        <h1>{title}</h1>
        <p>{explanation}</p>
      </main>
    </Document>,
  );
}

function renderDocument(document: ReactElement): string {
  return `<!doctype html>${renderToStaticMarkup(document)}`;
}

interface DocumentProps {
  readonly title: string;
  readonly language: Language;
  readonly reloads: boolean;
  readonly children: ReactNode;
}

function Document({ title, language, reloads, children }: DocumentProps): ReactElement {
  const other = language === 'id' ? 'en' : 'id';
  return (
    <html lang={language}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="icon" type="image/svg+xml" href={ICON_ADDRESS} />
        <link rel="stylesheet" href={STYLE_ADDRESS} />
        {reloads && <script src={SCRIPT_ADDRESS} defer />}
        {reloads && (
          <noscript>
            <meta httpEquiv="refresh" content={String(RELOAD_SECONDS)} />
          </noscript>
        )}
      </head>
      <body>
        {children}
        <footer>
          <a href={`?lang=${other}`} hrefLang={other} lang={other}>
            {TEXTS[language].otherLanguage}
          </a>
        </footer>
        <p id="announcement" className="unseen" aria-live="polite" />
      </body>
    </html>
  );
}

function Payment(page: CheckoutPage): ReactElement {
  const { payment, path, statusKey, language, nowMs, returnUrl } = page;
  const texts = TEXTS[language];
  const state = checkoutStateOf(payment, nowMs);
  const { title, explanation } = texts.states[state];
  const payload = payablePayload(payment, nowMs);
  const timeLeft = page.timeLeft ?? timeLeftAt(nowMs, payment.expiresAt);
  return (
    <main
      className={state}
      data-events={isLastPage(payment) ? undefined : `${path}/events?seen=${encodeURIComponent(statusKey)}`}
      data-milliseconds-left={payload === null ? undefined : timeLeft.milliseconds}
    >
      <p className="merchant">{payment.merchantName}</p>
      <h1>{title}</h1>
      <p className="amount">
        <span className="unseen">{texts.total}: </span>
        {formatRupiah(payment.totalRupiah)}
      </p>
      <p>{explanation}</p>
      {payload !== null && <Code page={page} payload={payload} countdown={timeLeft.countdown} />}
      <LatePayment {...page} />
      <dl>
        <div>
          <dt>{texts.reference}</dt>
          <dd>{payment.referenceId}</dd>
        </div>
      </dl>
      {returnUrl !== null && (
        <a className={payload === null ? 'button' : 'button quiet'} href={returnUrl} target="_top">
          {texts.backToShop}
        </a>
      )}
    </main>
  );
}

/** What happens to money that is paid after the end. */
function LatePayment({ payment, language, nowMs }: CheckoutPage): ReactElement | null {
  const state = checkoutStateOf(payment, nowMs);
  if (!['checking', 'expired', 'cancelled', 'failed'].includes(state)) return null;
  return <p className="note">{TEXTS[language].latePayments[payment.latePayment ?? 'none']}</p>;
}

interface CodeProps {
  readonly page: CheckoutPage;
  readonly payload: string;
  readonly countdown: string;
}

/** The code and how to pay it. The script removes `data-payable` when the time is over. */
function Code({ page: { payment, path, language }, payload, countdown }: CodeProps): ReactElement {
  const texts = TEXTS[language];
  const { size, path: modules } = drawQrisPath(payload);
  const qris = parseQris(payload);
  const name = `${texts.codeName}: ${formatRupiah(payment.totalRupiah)}, ${payment.merchantName}`;
  return (
    <section data-payable="">
      <figure>
        <p className="mark">QRIS</p>
        <svg role="img" aria-label={name} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
          <rect width={size} height={size} fill="#fff" />
          <path d={modules} fill="#000" />
        </svg>
        <figcaption>
          {qris.ok && (
            <>
              <b>{qris.value.merchantName}</b>
              {qris.value.nmid !== null && <span>NMID: {qris.value.nmid}</span>}
            </>
          )}
          <span className="unity">{texts.anyApp}</span>
          <small>{texts.checkApp}</small>
        </figcaption>
      </figure>
      <p className="deadline">
        <span className="countdown">
          {texts.timeLeft}{' '}
          <strong
            role="timer"
            aria-live="off"
            data-five-minutes={texts.fiveMinutesLeft}
            data-one-minute={texts.oneMinuteLeft}
            data-end={texts.states.checking.title}
          >
            {countdown}
          </strong>
        </span>
        <span>
          {texts.payBefore}{' '}
          <time dateTime={payment.expiresAt.toISOString()}>{formatDeadline(payment.expiresAt, language)}</time>
        </span>
      </p>
      <a className="button" href={`${path}/qris.png?lang=${language}`} download={`qris-${payment.referenceId}.png`}>
        {texts.saveImage}
      </a>
      <button type="button" className="quiet" hidden data-share={`${path}/qris.png?lang=${language}`}>
        {texts.shareImage}
      </button>
      <Steps title={texts.howToPay} steps={texts.steps} />
      <Steps title={texts.samePhone} steps={texts.samePhoneSteps} />
      <noscript>
        <a className="button quiet" href="?">
          {texts.reload}
        </a>
      </noscript>
    </section>
  );
}

function Steps({ title, steps }: { readonly title: string; readonly steps: readonly string[] }): ReactElement {
  return (
    <details>
      <summary>{title}</summary>
      <ol>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </details>
  );
}

/** `14:59`; `checkout.js` formats it in the same way. */
function formatCountdown(milliseconds: number): string {
  const seconds = Math.max(Math.ceil(milliseconds / 1_000), 0);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
