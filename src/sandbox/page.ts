import { z } from 'zod';
import { bankSection, type BankPageContent } from './bank/bank-page';
import { FAULT_KINDS, FAULT_OPERATIONS, isPossible, type Fault, type FaultKind, type FaultOperation } from './faults';
import { formatRupiah, html, type Html } from './html';
import type { OrderWithRefunds } from './ledger-records';
import { MAGIC_AMOUNTS } from './magic-amounts';
import { formatMidtransTime } from './midtrans-time';
import type { NotificationSummary } from './notification-queue';
import { orderCards } from './order-cards';
import { SCRIPT, STYLE } from './page-files';
import { phonePage, phoneTitle, type PhonePageContent } from './phone-page';

/** The parts of the page, each with an address of its own, so that they work without script. */
const TABS = {
  pay: { label: 'Pay', isSearchable: false, render: phonePage },
  orders: { label: 'Orders', isSearchable: true, render: orderCards },
  notifications: { label: 'Notifications', isSearchable: true, render: notificationTable },
  faults: { label: 'Faults', isSearchable: false, render: faultPanels },
  payouts: { label: 'Payouts', isSearchable: false, render: ({ bank }: PageContent) => bankSection(bank) },
} as const;

export const pageQuery = z.object({
  tab: z.enum(['pay', 'orders', 'notifications', 'faults', 'payouts']).catch('pay'),
  /** A part of an order id. */
  q: z.string().trim().catch(''),
  /** The text of the QR that the phone scans. */
  qris_payload: z.string().trim().catch(''),
});

export interface PageContent extends Pick<z.infer<typeof pageQuery>, 'tab' | 'q'>, PhonePageContent {
  readonly orders: readonly OrderWithRefunds[];
  readonly notifications: readonly NotificationSummary[];
  readonly faults: readonly Fault[];
  readonly bankDelaySeconds: number;
  readonly bank: BankPageContent;
}

const CONTENT_SECURITY_POLICY = [
  `default-src 'none'`,
  `img-src 'self'`,
  `font-src 'self'`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
  `style-src '${STYLE.source}'`,
  `script-src '${SCRIPT.source}'`,
].join('; ');

const LOGO = html`<svg viewBox="0 0 28 28" aria-hidden="true">
  <rect width="28" height="28" rx="7" />
  <path d="M8 7v14h5M13 14.5l3.2 3.5L21 11" />
</svg>`;

/** The page of the sandbox: one of its tabs. */
export function sandboxPage(content: PageContent): { html: string; contentSecurityPolicy: string } {
  const { isSearchable, render } = TABS[content.tab];
  const title = phoneTitle(content.scanned);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title === null ? '' : `${title} · `}Lunas sandbox</title>
        ${STYLE.element}
      </head>
      <body>
        <header>
          <p class="environment"><b>SANDBOX</b> No money moves.</p>
          ${LOGO}
          <h1>Lunas sandbox</h1>
          <p>Simulates the customer, the acquirer and the bank.</p>
        </header>
        <nav>${Object.entries(TABS).map(([name, { label }]) => tabLink(name, label, name === content.tab))}</nav>
        <main>${isSearchable ? searchForm(content) : ''} ${render(content)}</main>
        ${SCRIPT.element}
      </body>
    </html>`;
  return { html: page.text, contentSecurityPolicy: CONTENT_SECURITY_POLICY };
}

function tabLink(name: string, label: string, isCurrent: boolean): Html {
  return isCurrent
    ? html`<a href="/?tab=${name}" aria-current="page">${label}</a>`
    : html`<a href="/?tab=${name}">${label}</a>`;
}

/** The script does not replace it. */
function searchForm({ tab, q }: PageContent): Html {
  return html`<form class="row search" method="get" action="/">
    <input type="hidden" name="tab" value="${tab}" />
    <label class="wide">Order id, or a part of it <input name="q" type="search" value="${q}" /></label>
    <button>Search</button>
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

function notificationTable({ notifications, q }: PageContent): Html {
  const rows = notifications.map(
    ({ orderId, transactionStatus, url, attempts, createdAt, dueAt, outcome, lastResponse }) =>
      html`<tr>
        <td class="when number">${formatMidtransTime(createdAt)}</td>
        <td class="id">
          <a href="/?tab=orders&amp;q=${encodeURIComponent(orderId)}"><code>${orderId}</code></a>
        </td>
        <td class="status"><span class="badge">${transactionStatus}</span></td>
        <td class="address"><code title="${url}">${url}</code></td>
        <td data-name="Attempts">${attempts}</td>
        <td class="end number">${lastResponse ?? ''}</td>
        <td class="state">${outcome ?? (dueAt ? `due ${formatMidtransTime(dueAt)}` : '')}</td>
      </tr>`,
  );
  const table = html`<table class="records">
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
  const empty = html`<p>${q === '' ? 'None yet.' : 'No notification of such an order.'}</p>`;
  return html`<section id="notifications" class="panel" data-live>${rows.length === 0 ? empty : table}</section>`;
}

function faultPanels({ faults, bankDelaySeconds }: PageContent): Html {
  return html`<div class="halves">
      <section>
        <h2>Faults of the next calls</h2>
        <div class="panel">${faultForm()} ${armedFaults(faults)}</div>
      </section>
      <section>
        <h2>Bank delay</h2>
        <div class="panel">${bankForm(bankDelaySeconds)}</div>
      </section>
    </div>
    <h2>Magic amounts</h2>
    <section class="panel">${magicAmounts()}</section>`;
}

function bankForm(bankDelaySeconds: number): Html {
  return html`<form class="fields" method="post" action="/simulator/bank">
    <label
      >Seconds until a refund is confirmed
      <input
        name="refund_confirms_after_seconds"
        type="number"
        min="0"
        step="any"
        value="${bankDelaySeconds}"
        required
      />
    </label>
    <button>Set</button>
  </form>`;
}

function faultForm(): Html {
  const ofNotifications = FAULT_KINDS.filter((kind) => !isPossible({ operation: 'charge', kind }));
  const ofAll = FAULT_KINDS.filter((kind) => !ofNotifications.includes(kind));
  const option = (name: string, label: string) => html`<option value="${name}">${label}</option>`;
  const ofKinds = (kinds: readonly FaultKind[]) => kinds.map((kind) => option(kind, KIND_LABELS[kind]));
  return html`<form class="fields" method="post" action="/simulator/faults">
    <label
      >Call
      <select name="operation">
        ${FAULT_OPERATIONS.map((operation) => option(operation, OPERATION_LABELS[operation]))}
      </select></label
    >
    <label
      >Fault
      <select name="kind">
        ${ofKinds(ofAll)}
        <optgroup label="Notifications only">${ofKinds(ofNotifications)}</optgroup>
      </select></label
    >
    <label>Times <input name="times" type="number" min="1" max="10000" value="1" /></label>
    <button class="main">Arm</button>
  </form>`;
}

/** Each with its name in the simulator's API. */
const OPERATION_LABELS: Readonly<Record<FaultOperation, string>> = {
  charge: 'Create an order (charge)',
  status: 'Read an order (status)',
  cancel: 'Cancel an order (cancel)',
  expire: 'Expire an order (expire)',
  refund: 'Refund an order (refund)',
  notify: 'Notification of an order (notify)',
  token: 'Bank: access token (token)',
  inquiry: 'Bank: account name (inquiry)',
  transfer: 'Bank: transfer (transfer)',
  transfer_status: 'Bank: read a transfer (transfer_status)',
  transfer_notify: 'Bank: notification (transfer_notify)',
};

const KIND_LABELS: Readonly<Record<FaultKind, string>> = {
  timeout: 'No response, not executed (timeout)',
  reset: 'Connection reset, not executed (reset)',
  http_500: 'HTTP 500, not executed (http_500)',
  reject: 'Rejected (reject)',
  accept_then_timeout: 'Executed, no response (accept_then_timeout)',
  accept_then_reset: 'Executed, connection reset (accept_then_reset)',
  half_body: 'Executed, half a response (half_body)',
  slow: 'Executed after three seconds (slow)',
  forgotten_key: 'Idempotency key forgotten, charge only (forgotten_key)',
  bad_signature: 'Corrupt signature (bad_signature)',
  silent: 'Dropped (silent)',
};

function armedFaults(faults: readonly Fault[]): Html {
  if (faults.length === 0) return html`<p id="armed" class="dim" data-live>No faults armed.</p>`;
  const armed = faults.map(
    ({ operation, kind, times }) => html`<li><code>${operation}: ${kind} × ${times}</code></li>`,
  );
  return html`<div id="armed" class="armed" data-live>
    <ul>
      ${armed}
    </ul>
    <form method="post" action="/simulator/faults/clear"><button>Clear all</button></form>
  </div>`;
}
