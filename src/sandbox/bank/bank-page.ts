import { formatRupiah, html, type Html } from '../html';
import { formatMidtransTime } from '../midtrans-time';
import type { BankAccountState } from './bank';
import { MAGIC_ACCOUNTS } from './magic-accounts';
import type { Transfer, TransferStatus } from './transfer-records';

export interface BankPageContent {
  readonly account: BankAccountState;
  /** Newest first. */
  readonly transfers: readonly Transfer[];
}

/** The buttons of a transfer, by its status. */
const BUTTONS: Readonly<Record<TransferStatus, readonly (readonly [change: string, label: string])[]>> = {
  not_received: [],
  rejected: [],
  pending: [
    ['complete', 'Complete'],
    ['fail', 'Fail'],
  ],
  completed: [['return', 'Return']],
  failed: [['complete', 'Complete']],
  returned: [],
};

/** The part of the page that is about payouts: our account, its transfers, and the numbers with a behaviour. */
export function bankSection({ account, transfers }: BankPageContent): Html {
  return html`<section id="transfers" class="panel" data-live>
      <p>Our account has <b class="number">${formatRupiah(account.balanceRupiah)}</b>.</p>
      ${transferTable(transfers)}
    </section>
    <h2>Magic account numbers</h2>
    <section class="panel">${magicNumbers()}</section>`;
}

function transferTable(transfers: readonly Transfer[]): Html {
  if (transfers.length === 0) return html`<p>No transfers yet.</p>`;
  const rows = transfers.map(
    (transfer) =>
      html`<tr>
        <td class="when number">${formatMidtransTime(transfer.sentAt)}</td>
        <td class="id"><code>${transfer.partnerReferenceNo}</code></td>
        <td class="end number"><b>${formatRupiah(transfer.amountRupiah)}</b></td>
        <td data-name="Account">${transfer.bankCode} ${transfer.accountNumber}</td>
        <td class="status"><span class="badge">${transfer.status}</span></td>
        <td class="row">${BUTTONS[transfer.status].map((button) => changeForm(transfer, button))}</td>
      </tr>`,
  );
  return html`<table class="records">
    <tr>
      <th>Sent (WIB)</th>
      <th>Reference</th>
      <th>Amount</th>
      <th>Account</th>
      <th>Status</th>
      <th></th>
    </tr>
    ${rows}
  </table>`;
}

function changeForm({ partnerReferenceNo }: Transfer, [change, label]: readonly [string, string]): Html {
  return html`<form method="post" action="/simulator/transfers/${encodeURIComponent(partnerReferenceNo)}/${change}">
    <button>${label}</button>
  </form>`;
}

function magicNumbers(): Html {
  const rows = MAGIC_ACCOUNTS.map(
    ({ accountNumber, description }) =>
      html`<tr>
        <td class="number">${accountNumber}</td>
        <td>${description}</td>
      </tr>`,
  );
  return html`<table>
    ${rows}
  </table>`;
}
