import { shopOf } from '../qris/qris';
import { formatRupiah, html, type Html } from './html';
import type { Order, OrderStatus, OrderWithRefunds } from './ledger-records';
import { formatMidtransTime } from './midtrans-time';

/** The label and colour of each status. */
const STATUS_LABELS = {
  pending: { label: 'waiting', tone: 'wait' },
  settlement: { label: 'paid', tone: 'good' },
  expire: { label: 'expired', tone: 'off' },
  cancel: { label: 'cancelled', tone: 'off' },
  refund: { label: 'refunded', tone: 'back' },
  partial_refund: { label: 'partly refunded', tone: 'back' },
} as const satisfies Record<OrderStatus, { label: string; tone: string }>;

/** The label and look of the Pay button. Statuses without one have no button. */
const PAY_BUTTONS: Partial<Record<OrderStatus, { readonly label: string; readonly look: 'pay' | 'late' }>> = {
  pending: { label: 'Pay', look: 'pay' },
  expire: { label: 'Pay late', look: 'late' },
  cancel: { label: 'Pay late', look: 'late' },
};

/** What waits for a payment stands first. */
export function orderCards({ orders, q }: { readonly orders: readonly OrderWithRefunds[]; readonly q: string }): Html {
  const isWaiting = ({ order }: OrderWithRefunds) => order.status === 'pending';
  const empty = q === '' ? 'No orders yet. Create a payment and it appears here.' : 'No order has this id.';
  const groups = [orders.filter(isWaiting), orders.filter((each) => !isWaiting(each))].filter(
    ({ length }) => length > 0,
  );
  return html`<section id="orders" data-live>
    ${orders.length === 0 ? html`<p>${empty}</p>` : groups.map(cards)}
  </section>`;
}

function cards(orders: readonly OrderWithRefunds[]): Html {
  return html`<div class="cards">${orders.map(orderCard)}</div>`;
}

function orderCard({ order, refunds }: OrderWithRefunds): Html {
  const { label, tone } = STATUS_LABELS[order.status];
  const payButton = PAY_BUTTONS[order.status];
  const checkout = checkoutAddress(order);
  return html`<article class="card ${tone}">
    <h2 class="top"><code>${order.orderId}</code><span class="badge">${label}</span></h2>
    <span class="amount">${formatRupiah(order.grossAmountRupiah)}</span>
    <span>${shopOf(order.qrString)?.merchantName ?? ''}</span>
    ${
      order.status === 'pending'
        ? html`<img
            src="/v2/qris/${order.transactionId}/qr-code"
            alt="QRIS of order ${order.orderId}"
            loading="lazy"
          />`
        : ''
    }
    <small>${order.acquirer} · created <span class="number">${formatMidtransTime(order.chargedAt)} WIB</span></small>
    <small>until <span class="number">${formatMidtransTime(order.expiresAt)} WIB</span></small>
    ${refunds.map((refund) => html`<small>refund of ${formatRupiah(refund.amountRupiah)}: ${refund.status}</small>`)}
    ${checkout === null ? '' : html`<a href="${checkout}">Checkout page</a>`}
    ${payButton === undefined ? '' : payForm(order.orderId, payButton)}
  </article>`;
}

/** The page of Lunas for this order, at the service that gets its notifications. */
export function checkoutAddress({ orderId, transactionId, notificationUrl }: Order): string | null {
  if (notificationUrl === null || !/^https?:/.test(notificationUrl) || !URL.canParse(notificationUrl)) return null;
  return new URL(`/sandbox/checkout/${encodeURIComponent(orderId)}/${transactionId}`, notificationUrl).href;
}

function payForm(orderId: string, { label, look }: { label: string; look: string }): Html {
  return html`<form method="post" action="/simulator/payments/${encodeURIComponent(orderId)}/pay">
    <button class="${look}">${label}</button>
  </form>`;
}
