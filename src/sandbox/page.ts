import { createHash } from 'node:crypto';
import { bankSection, type BankPageContent } from './bank/bank-page';
import { FAULT_KINDS, FAULT_OPERATIONS, isPossible, type Fault } from './faults';
import { Html, html } from './html';
import type { OrderStatus, OrderWithRefunds } from './ledger-records';
import { MAGIC_AMOUNTS } from './magic-amounts';
import { formatMidtransTime } from './midtrans-time';
import type { NotificationSummary } from './notification-queue';

export interface PageContent {
  readonly orders: readonly OrderWithRefunds[];
  readonly notifications: readonly NotificationSummary[];
  readonly faults: readonly Fault[];
  readonly bankDelaySeconds: number;
  readonly bank: BankPageContent;
}

/** The label and colour of each status. */
const STATUS_LABELS = {
  pending: { label: 'waiting', tone: 'wait' },
  settlement: { label: 'paid', tone: 'good' },
  expire: { label: 'expired', tone: 'off' },
  cancel: { label: 'cancelled', tone: 'off' },
  refund: { label: 'refunded', tone: 'back' },
  partial_refund: { label: 'partly refunded', tone: 'back' },
} as const satisfies Record<OrderStatus, { label: string; tone: string }>;

/** The label of the Pay button. Statuses without a label have no button. */
const PAY_LABELS: Partial<Record<OrderStatus, string>> = { pending: 'Pay', expire: 'Pay late', cancel: 'Pay late' };

const STYLE = inlineElement(
  'style',
  `
  :root {
    color-scheme: light dark; --line: light-dark(#e2e5ea, #30353d); --card: light-dark(#fff, #1d2127);
    --dim: light-dark(#667085, #9aa4b2); --accent: #0b7a55;
  }
  * { box-sizing: border-box; }
  body {
    margin: 0 auto; max-width: 1120px; padding: 24px 20px 64px; font: 15px/1.5 system-ui, sans-serif;
    background: light-dark(#f6f7f9, #14171b);
  }
  header { display: flex; align-items: baseline; gap: 12px; flex-wrap: wrap; margin-bottom: 20px; }
  h1 { font-size: 22px; margin: 0; } h2 { font-size: 16px; margin: 32px 0 12px; } p { margin: 0; color: var(--dim); }
  .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 16px; }
  .card, .panel { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px; }
  .card { display: flex; flex-direction: column; gap: 8px; }
  .card img { width: 100%; aspect-ratio: 1; background: #fff; border-radius: 8px; image-rendering: pixelated; }
  .card.off img, .card.good img, .card.back img { opacity: .25; }
  .top { display: flex; justify-content: space-between; align-items: center; }
  .amount { font-size: 20px; font-weight: 650; font-variant-numeric: tabular-nums; }
  .badge { font-size: 12px; font-weight: 600; padding: 2px 10px; border-radius: 99px; color: #fff; background: #667085 }
  .wait .badge { background: #b25e09; } .good .badge { background: var(--accent) } .back .badge { background: #6941c6 }
  code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; } small { color: var(--dim); }
  button {
    font: inherit; font-weight: 600; padding: 8px 16px; border: 1px solid var(--line); border-radius: 8px;
    background: transparent; color: inherit; cursor: pointer;
  }
  button.pay { width: 100%; background: var(--accent); border-color: var(--accent); color: #fff; }
  button:hover { filter: brightness(1.1); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .row { display: flex; gap: 12px; flex-wrap: wrap; align-items: end; } .row + .row { margin-top: 12px; }
  label { display: grid; gap: 4px; font-size: 13px; color: var(--dim); }
  select, input {
    font: inherit; padding: 7px 10px; border: 1px solid var(--line); border-radius: 8px; background: transparent;
    color: inherit;
  }
  input { width: 90px; } .wide { flex: 1; } .wide input { width: 100%; }
  .number { font-variant-numeric: tabular-nums; white-space: nowrap; } table { width: 100%; border-collapse: collapse; }
  td, th { text-align: left; padding: 6px 8px; border-top: 1px solid var(--line); font-size: 13px; }
  th { border: 0; color: var(--dim); font-weight: 500; }
`,
);

/** Refreshes the page; optional. A form that has the focus is not replaced. */
const SCRIPT = inlineElement(
  'script',
  `
  setInterval(async () => {
    if (document.hidden) return;
    const response = await fetch('/').catch(() => undefined);
    if (!response || !response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const id of ['orders', 'armed', 'bank', 'notifications', 'transfers']) {
      const [old, now] = [document.getElementById(id), fresh.getElementById(id)];
      if (old.innerHTML !== now.innerHTML && !old.contains(document.activeElement)) old.replaceWith(now);
    }
  }, 2000);
`,
);

const CONTENT_SECURITY_POLICY = [
  `default-src 'none'`,
  `img-src 'self'`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
  `style-src '${STYLE.source}'`,
  `script-src '${SCRIPT.source}'`,
].join('; ');

/** The page of the sandbox: orders with a Pay button, notifications, and faults. */
export function sandboxPage(content: PageContent): { html: string; contentSecurityPolicy: string } {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Lunas sandbox</title>
        ${STYLE.element}
      </head>
      <body>
        <header>
          <h1>Lunas sandbox</h1>
          <p>
            A simulated acquirer; no money moves. Pay an order as its customer, and watch the notifications to the
            merchant.
          </p>
        </header>
        <section id="orders">${orderCards(content.orders)}</section>
        <h2>Scan</h2>
        <section class="panel">${scanForm()}</section>
        <h2>Notifications</h2>
        <section id="notifications" class="panel">${notificationTable(content.notifications)}</section>
        <h2>Faults</h2>
        <section class="panel">${faultForm()}${armedFaults(content.faults)}</section>
        <h2>Bank</h2>
        <section class="panel"><p id="bank">Refunds are confirmed after ${content.bankDelaySeconds} s.</p></section>
        <h2>Magic amounts</h2>
        <section class="panel">${magicAmounts()}</section>
        ${bankSection(content.bank)} ${SCRIPT.element}
      </body>
    </html>`;
  return { html: page.text, contentSecurityPolicy: CONTENT_SECURITY_POLICY };
}

function orderCards(orders: readonly OrderWithRefunds[]): Html {
  if (orders.length === 0) return html`<p>No orders yet. Create a payment and it appears here.</p>`;
  return html`<div class="cards">${orders.map(orderCard)}</div>`;
}

function orderCard({ order, refunds }: OrderWithRefunds): Html {
  const { label, tone } = STATUS_LABELS[order.status];
  const payLabel = PAY_LABELS[order.status];
  return html`<article class="card ${tone}">
    <div class="top">
      <span class="amount">${formatRupiah(order.grossAmountRupiah)}</span><span class="badge">${label}</span>
    </div>
    <img src="/v2/qris/${order.transactionId}/qr-code" alt="QRIS of order ${order.orderId}" loading="lazy" />
    <code>${order.orderId}</code>
    <small>${order.acquirer} · until ${formatMidtransTime(order.expiresAt)} WIB</small>
    ${refunds.map((refund) => html`<small>refund of ${formatRupiah(refund.amountRupiah)}: ${refund.status}</small>`)}
    ${payLabel === undefined ? '' : payForm(order.orderId, payLabel)}
  </article>`;
}

function payForm(orderId: string, label: string): Html {
  return html`<form method="post" action="/simulator/payments/${encodeURIComponent(orderId)}/pay">
    <button class="pay">${label}</button>
  </form>`;
}

/** For a QR code from elsewhere: a shop's page, or a response of the API. */
function scanForm(): Html {
  return html`<form class="row" method="post" action="/simulator/scan">
    <label class="wide">Text of a QR code <input name="qris_payload" required /></label>
    <button>Scan and pay</button>
  </form>`;
}

function magicAmounts(): Html {
  const rows = MAGIC_AMOUNTS.map(
    ({ totalRupiah, description }) =>
      html`<tr>
        <td class="number">${formatRupiah(totalRupiah)}</td>
        <td>${description}</td>
      </tr>`,
  );
  return html`<p>An order over exactly this total:</p>
    <table>
      ${rows}
    </table>`;
}

function notificationTable(notifications: readonly NotificationSummary[]): Html {
  if (notifications.length === 0) return html`<p>None yet.</p>`;
  const rows = notifications.map(
    ({ orderId, transactionStatus, url, attempts, createdAt, dueAt, outcome, lastResponse }) =>
      html`<tr>
        <td>${formatMidtransTime(createdAt)}</td>
        <td><code>${orderId}</code></td>
        <td>${transactionStatus}</td>
        <td><code>${url}</code></td>
        <td>${attempts}</td>
        <td>${lastResponse ?? ''}</td>
        <td>${outcome ?? (dueAt ? `due ${formatMidtransTime(dueAt)}` : '')}</td>
      </tr>`,
  );
  return html`<table>
    <tr>
      <th>Created (WIB)</th>
      <th>Order</th>
      <th>Status</th>
      <th>URL</th>
      <th>Attempts</th>
      <th>Response</th>
      <th>State</th>
    </tr>
    ${rows}
  </table>`;
}

function faultForm(): Html {
  const ofNotifications = FAULT_KINDS.filter((kind) => !isPossible({ operation: 'charge', kind }));
  const ofAll = FAULT_KINDS.filter((kind) => !ofNotifications.includes(kind));
  const options = (values: readonly string[]) => values.map((value) => html`<option>${value}</option>`);
  return html`<form class="row" method="post" action="/simulator/faults">
    <label>The next <input name="times" type="number" min="1" max="10000" value="1" /></label>
    <label
      >calls of
      <select name="operation">
        ${options(FAULT_OPERATIONS)}
      </select></label
    >
    <label
      >fail with
      <select name="kind">
        ${options(ofAll)}
        <optgroup label="notifications only">${options(ofNotifications)}</optgroup>
      </select></label
    >
    <button>Arm</button>
  </form>`;
}

function armedFaults(faults: readonly Fault[]): Html {
  if (faults.length === 0) return html`<div id="armed" class="row"><small>No faults armed.</small></div>`;
  const armed = faults.map(({ operation, kind, times }) => html`<code>${operation}: ${kind} × ${times}</code>`);
  return html`<div id="armed" class="row">
    ${armed}
    <form method="post" action="/simulator/faults/clear"><button>Clear all</button></form>
  </div>`;
}

function formatRupiah(rupiah: number): string {
  return `Rp ${rupiah.toLocaleString('id-ID')}`;
}

/** An inline style or script, with its hash for the Content-Security-Policy. */
function inlineElement(name: 'style' | 'script', content: string): { element: Html; source: string } {
  return {
    element: new Html(`<${name}>${content}</${name}>`),
    source: `sha256-${createHash('sha256').update(content).digest('base64')}`,
  };
}
