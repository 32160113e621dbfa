import { shopOf } from '../qris/qris';
import { formatRupiah, html, type Html } from './html';
import type { Order, OrderStatus, OrderWithRefunds } from './ledger-records';
import { formatMidtransTime } from './midtrans-time';
import { checkoutAddress } from './order-cards';
import type { Scanned } from './scan';

export interface PhonePageContent {
  /** What the phone has scanned; null: nothing yet. */
  readonly scanned: Scanned | null;
  /** Newest first. */
  readonly payable: readonly Order[];
}

type ReadQr = Extract<Scanned, { isQris: true }>;

const SCAN_ANOTHER = html`<a class="button quiet" href="/">Scan another code</a>`;

/** The customer's app as a phone, and beside it the codes that it can scan. */
export function phonePage({ scanned, payable }: PhonePageContent): Html {
  return html`<div class="pay-page">
    <section class="phone" aria-label="The customer's phone">
      <p class="app"><b>Customer's app</b><span>Sandbox</span></p>
      ${
        scanned === null
          ? [finder(payable[0]), pasteForm()]
          : html`<div id="screen" class="screen" data-live>${screenOf(scanned)}</div>`
      }
    </section>
    <div class="beside">
      ${scanned?.isQris && scanned.found ? orderBehind(scanned.found.order) : ''}${codeList(payable)}
    </div>
  </div>`;
}

/** The title of the browser's tab. */
export function phoneTitle(scanned: Scanned | null): string | null {
  if (scanned === null) return null;
  if (!scanned.isQris) return 'Not a QRIS';
  return scanned.found ? SCREENS[scanned.found.order.status].title : 'Cannot be paid here';
}

/** The camera has the newest code before it. */
function finder(newest: Order | undefined): Html {
  const view = html`<svg class="corners" viewBox="0 0 100 100" aria-hidden="true">
    <path d="M4 20V9a5 5 0 0 1 5-5h11M80 4h11a5 5 0 0 1 5 5v11M96 80v11a5 5 0 0 1-5 5H80M20 96H9a5 5 0 0 1-5-5V80" />
  </svg>`;
  if (newest === undefined) {
    return html`<div id="screen" class="screen" data-live>
      <div class="finder">${view}</div>
      <p class="center">
        <b>No code to scan</b><br />Create a payment by the API or on the dashboard. Its code appears here.
      </p>
    </div>`;
  }
  return html`<div id="screen" class="screen" data-live>
    <div class="finder">${view}${qrImage(newest)}</div>
    <p class="center">
      <b class="amount">${formatRupiah(newest.grossAmountRupiah)}</b
      ><br />${shopOf(newest.qrString)?.merchantName ?? ''}
    </p>
    <a class="button main" href="${scanAddress(newest)}">Scan this code</a>
  </div>`;
}

function pasteForm(): Html {
  return html`<details class="paste">
    <summary>Paste the text of a QR instead</summary>
    <form method="get" action="/">
      <label>Text of a QR <input name="qris_payload" autocomplete="off" spellcheck="false" required /></label>
      <button>Scan this text</button>
    </form>
  </details>`;
}

function screenOf(scanned: Scanned): Html {
  if (!scanned.isQris) {
    return html`${sign('bad')}
      <h2>This is not a QRIS</h2>
      <p class="center">${scanned.problem}</p>
      ${SCAN_ANOTHER}`;
  }
  if (scanned.found) return SCREENS[scanned.found.order.status].render(scanned, scanned.found);
  return html`${sign('off')}
    <h2>Cannot be paid here</h2>
    <p class="center">This is a valid QRIS, but not a code of this sandbox.</p>
    ${shopFacts(scanned)} ${SCAN_ANOTHER}`;
}

/** What the app shows, by the status of the order. */
const SCREENS: Readonly<
  Record<OrderStatus, { readonly title: string; readonly render: (read: ReadQr, found: OrderWithRefunds) => Html }>
> = {
  pending: { title: 'Pay', render: payScreen },
  settlement: { title: 'Paid', render: paidScreen },
  expire: { title: 'Expired', render: endedScreen('This code has expired') },
  cancel: { title: 'Cancelled', render: endedScreen('The shop has cancelled this code') },
  refund: { title: 'Refunded', render: refundedScreen('Refunded') },
  partial_refund: { title: 'Partly refunded', render: refundedScreen('Partly refunded') },
};

function payScreen(read: ReadQr, { order }: OrderWithRefunds): Html {
  const amount = formatRupiah(order.grossAmountRupiah);
  return html`<p class="center">You pay</p>
    <p class="total">${amount}</p>
    ${shopFacts(read)}
    <p class="center dim">Valid until ${clockTime(order.expiresAt)} WIB</p>
    <form method="post" action="/simulator/scan">
      <input type="hidden" name="qris_payload" value="${read.text}" />
      <button class="main">Pay ${amount}</button>
    </form>
    ${SCAN_ANOTHER}`;
}

function paidScreen(read: ReadQr, { order }: OrderWithRefunds): Html {
  return html`${sign('good')}
    <h2>Paid</h2>
    <p class="total">${formatRupiah(order.grossAmountRupiah)}</p>
    ${shopFacts(read)}
    <p class="center dim">${order.paidAt ? `${formatMidtransTime(order.paidAt)} WIB` : ''}</p>
    ${SCAN_ANOTHER}`;
}

function endedScreen(title: string) {
  return (read: ReadQr, { order }: OrderWithRefunds): Html =>
    html`${sign('off')}
      <h2>${title}</h2>
      <p class="total">${formatRupiah(order.grossAmountRupiah)}</p>
      ${shopFacts(read)}
      <p class="center">An app does not pay it. <a href="${ordersAddress(order)}">Pay it late</a> among the orders.</p>
      ${SCAN_ANOTHER}`;
}

function refundedScreen(title: string) {
  return (read: ReadQr, { refunds }: OrderWithRefunds): Html =>
    html`${sign('back')}
      <h2>${title}</h2>
      ${refunds.map(({ amountRupiah, status }) => html`<p class="center">${formatRupiah(amountRupiah)}: ${status}</p>`)}
      ${shopFacts(read)} ${SCAN_ANOTHER}`;
}

const SIGNS = {
  good: html`<path d="m17 28 8 8 15-17" />`,
  bad: html`<path d="M28 16v15M28 39v1" />`,
  off: html`<path d="M28 17v12l8 5" />`,
  back: html`<path d="M38 34V26a6 6 0 0 0-6-6H18m6-7-7 7 7 7" />`,
} as const;

function sign(tone: keyof typeof SIGNS): Html {
  return html`<svg class="sign ${tone}" viewBox="0 0 56 56" aria-hidden="true">
    <circle cx="28" cy="28" r="27" />
    ${SIGNS[tone]}
  </svg>`;
}

/** The shop by its name and number in the QR. */
function shopFacts({ qris }: ReadQr): Html {
  return html`<div class="shop">
    <b>${qris.merchantName}</b>
    <span>${qris.merchantCity}</span>
    <span>NMID ${qris.nmid ?? 'missing'}</span>
  </div>`;
}

/** What the acquirer knows of the scanned order, which the customer's app does not show. */
function orderBehind(order: Order): Html {
  const checkout = checkoutAddress(order);
  return html`<section class="panel behind">
    <h2>Behind this code</h2>
    <dl>
      <dt>Order at the acquirer</dt>
      <dd>
        <a href="${ordersAddress(order)}"><code>${order.orderId}</code></a>
      </dd>
      <dt>Number in the QR</dt>
      <dd><code>${order.qrReference}</code></dd>
    </dl>
    <p class="dim">
      The acquirer does not get the order number of your
      shop${checkout === null ? '.' : html`: <a href="${checkout}">the checkout page</a> has it.`}
    </p>
  </section>`;
}

function codeList(payable: readonly Order[]): Html {
  if (payable.length === 0) return html`<section id="codes" data-live></section>`;
  return html`<section id="codes" data-live>
    <h2>Codes that wait for a customer</h2>
    <ul class="codes">
      ${payable.map(codeOf)}
    </ul>
  </section>`;
}

function codeOf(order: Order): Html {
  const amount = formatRupiah(order.grossAmountRupiah);
  return html`<li class="card code">
    ${qrImage(order)}
    <div>
      <b class="amount">${amount}</b>
      <span>${shopOf(order.qrString)?.merchantName ?? ''}</span>
      <small><code>${order.orderId}</code> · until ${clockTime(order.expiresAt)} WIB</small>
    </div>
    <a class="button" href="${scanAddress(order)}" aria-label="Scan this one: ${amount}, ${order.orderId}">
      Scan this one
    </a>
  </li>`;
}

function qrImage({ transactionId, orderId }: Order): Html {
  return html`<img src="/v2/qris/${transactionId}/qr-code" alt="QRIS of order ${orderId}" width="96" height="96" />`;
}

/** In WIB: `02:44`. */
function clockTime(timestamp: Date): string {
  return formatMidtransTime(timestamp).slice(11, 16);
}

function scanAddress({ qrString }: Order): string {
  return `/?qris_payload=${encodeURIComponent(qrString)}`;
}

function ordersAddress({ orderId }: Order): string {
  return `/?tab=orders&q=${encodeURIComponent(orderId)}`;
}
