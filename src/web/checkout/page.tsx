import type { ReactElement } from 'react';
import { WIB } from '../ui/format';
import { LiveMark } from '../ui/live-mark';
import { checkoutStateOf, isLastPage, isWithoutPayment, payablePayload, type CheckoutPage } from './checkout-state';
import { Code, imageOf, Steps } from './code';
import { renderDocument } from './document';
import { Amount, Due } from './due';
import { markTimeAt } from './mark-time';
import { Facts, Outcome, Receipt, Returning } from './outcome';
import { BackToShop, Contact, Merchant, shownLogo } from './shop';
import { TEXTS } from './texts';
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

function Payment(page: CheckoutPage): ReactElement {
  const { payment, path, statusKey, nowMs } = page;
  const state = checkoutStateOf(payment, nowMs);
  const Past = isWithoutPayment(state) ? WithoutPayment : Ended;
  const payload = payablePayload(payment, nowMs);
  const timeLeft = page.timeLeft ?? timeLeftAt(nowMs, payment.expiresAt);
  return (
    <main
      className={`checkout-card ${state}`}
      data-events={isLastPage(payment) ? undefined : `${path}/events?seen=${encodeURIComponent(statusKey)}`}
      data-milliseconds-left={payload === null ? undefined : timeLeft.milliseconds}
    >
      {page.isSandbox && <Watermark />}
      <Merchant merchantName={payment.merchantName} logo={shownLogo(payment.logo)} />
      {payload === null ? <Past {...page} /> : <Waiting page={page} payload={payload} timeLeft={timeLeft} />}
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
      <Due {...payment} language={language} timeLeft={timeLeft} image={imageOf(page)} heading="h1" />
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

/** A payment that ended unpaid: what happened and what to do now. A wide page has what it was for beside it. */
function WithoutPayment(page: CheckoutPage): ReactElement {
  const { payment, language, nowMs, returnUrl } = page;
  const { states, facts, latePayments } = TEXTS[language];
  const state = checkoutStateOf(payment, nowMs);
  return (
    <div className="panes without-payment">
      <div className="happened">
        <Outcome outcome={state} texts={states[state]} />
      </div>
      <div className="was-due">
        <Amount label={facts.total} totalRupiah={payment.totalRupiah} isPast />
        <Facts {...page} />
      </div>
      <div className="further">
        <BackToShop {...page} isMain />
        <Contact
          contact={payment.contact}
          language={language}
          shop={returnUrl === null ? payment.merchantName : null}
        />
        <p className="note">{latePayments[payment.latePayment ?? 'none']}</p>
      </div>
    </div>
  );
}

/** A payment that is paid, or that is prepared or checked: what happened, what to keep, and the way back. */
function Ended(page: CheckoutPage): ReactElement {
  const { payment, language, nowMs, returnUrl } = page;
  const state = checkoutStateOf(payment, nowMs);
  const { mark = markTimeAt(payment, language, nowMs) } = page;
  return (
    <>
      <Outcome outcome={state} texts={TEXTS[language].states[state]} />
      {state === 'paid' && <p className="to-show">{TEXTS[language].showCashier}</p>}
      <Amount label={TEXTS[language].facts.total} totalRupiah={payment.totalRupiah} />
      {mark !== null && <LiveMark {...mark} locale={{ language, zone: WIB }} />}
      <Facts {...page} />
      {state === 'paid' && returnUrl !== null && <Returning language={language} />}
      <BackToShop {...page} isMain={state !== 'preparing'} />
      <Receipt {...page} />
      <Contact contact={payment.contact} language={language} />
    </>
  );
}
