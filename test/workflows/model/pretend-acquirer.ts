import type {
  EndPaymentOutcome,
  FindPaymentOutcome,
  IssueQrisOutcome,
  IssueQrisRequest,
  NotificationVerdict,
  Provider,
  ProviderPayment,
  ProviderRefund,
  RefundOutcome,
  RefundRequest,
  Unclear,
} from '../../../src/providers/provider';

/** An order as the acquirer has it. */
export interface Order {
  status: ProviderPayment['status'];
  totalRupiah: number;
  readonly transactionId: string;
  paidAt: Date | null;
  refunds: ProviderRefund[];
  /** How often it was opened. */
  charges: number;
}

/** What goes wrong with the next call: it never arrives, or its answer gets lost. */
export type Loss = 'request' | 'answer';
export type Operation = 'issue' | 'find' | 'end' | 'refund';

/** How this acquirer deals with one order. */
export interface Manner {
  refusesOrder: boolean;
  refusesRefunds: boolean;
  /** The bank takes its time: so many look-ups later. */
  confirmsRefundsAfter: number;
  readonly losses: Record<Operation, Loss[]>;
}

const LOST: Unclear = { outcome: 'unclear', reason: 'the line is dead' };

/** An acquirer within the test process: an independent account of what `Provider` promises, which can lose any message. */
export class PretendAcquirer implements Provider {
  readonly orders = new Map<string, Order>();
  readonly #manners = new Map<string, Manner>();

  mannerOf(referenceId: string): Manner {
    const known = this.#manners.get(referenceId);
    if (known) return known;
    const losses = { issue: [], find: [], end: [], refund: [] };
    const manner = { refusesOrder: false, refusesRefunds: false, confirmsRefundsAfter: 0, losses };
    this.#manners.set(referenceId, manner);
    return manner;
  }

  /** A customer pays; at the acquirer an order that has ended can be paid too. */
  pay(referenceId: string): void {
    const order = this.#open(referenceId);
    order.status = 'paid';
    order.paidAt = new Date();
  }

  /** Somebody does it in the acquirer's own dashboard. */
  endByHand(referenceId: string, as: 'denied' | 'cancelled'): void {
    this.#open(referenceId).status = as;
  }

  refundByHand(referenceId: string): void {
    const order = this.#open(referenceId);
    order.status = 'refunded';
    order.refunds.push(refundOver(order.totalRupiah, 'by hand', true));
  }

  /** Its records are wrong: another amount, or no such order. */
  changeAmount(referenceId: string): void {
    this.#open(referenceId).totalRupiah += 1_000;
  }

  forgetOrder(referenceId: string): void {
    this.#open(referenceId);
    this.orders.delete(referenceId);
  }

  async issueQris({ referenceId, totalRupiah }: IssueQrisRequest): Promise<IssueQrisOutcome> {
    const manner = this.mannerOf(referenceId);
    return this.#answer(referenceId, 'issue', () => {
      if (manner.refusesOrder) return { outcome: 'refused', reason: 'over the limit of the account' };
      const known = this.orders.get(referenceId);
      if (known) return { outcome: 'unclear', reason: 'there is such an order already' };
      const order: Order = {
        status: 'pending',
        totalRupiah,
        transactionId: `T-${referenceId}`,
        paidAt: null,
        refunds: [],
        charges: 1,
      };
      this.orders.set(referenceId, order);
      return { outcome: 'accepted', providerTransactionId: order.transactionId, qrisPayload: payloadOf(referenceId) };
    });
  }

  async findPayment(referenceId: string): Promise<FindPaymentOutcome> {
    return this.#answer<FindPaymentOutcome>(referenceId, 'find', () => {
      const order = this.orders.get(referenceId);
      if (!order) return { outcome: 'not_found' };
      this.#hearFromBank(referenceId, order);
      const { status, totalRupiah, transactionId, paidAt, refunds } = order;
      const qrisPayload = payloadOf(referenceId);
      const payment = { status, totalRupiah, providerTransactionId: transactionId, paidAt, qrisPayload };
      return { outcome: 'found', payment: { ...payment, refunds: [...refunds] } };
    });
  }

  expirePayment(referenceId: string): Promise<EndPaymentOutcome> {
    return this.#end(referenceId, 'expired');
  }

  cancelPayment(referenceId: string): Promise<EndPaymentOutcome> {
    return this.#end(referenceId, 'cancelled');
  }

  async refundPayment({ referenceId, refundKey, totalRupiah }: RefundRequest): Promise<RefundOutcome> {
    const manner = this.mannerOf(referenceId);
    return this.#answer<RefundOutcome>(referenceId, 'refund', () => {
      const order = this.#open(referenceId);
      if (order.refunds.some((refund) => refund.refundKey === refundKey)) return { outcome: 'accepted' };
      if (manner.refusesRefunds || order.status !== 'paid' || order.refunds.length > 0) {
        return { outcome: 'refused', reason: 'it cannot be refunded' };
      }
      order.refunds.push(refundOver(totalRupiah, refundKey, false));
      this.#hearFromBank(referenceId, order);
      return { outcome: 'accepted' };
    });
  }

  verifyNotification(): NotificationVerdict {
    throw new Error('The model notifies by itself');
  }

  #end(referenceId: string, as: 'expired' | 'cancelled'): Promise<EndPaymentOutcome> {
    return this.#answer<EndPaymentOutcome>(referenceId, 'end', () => {
      const order = this.orders.get(referenceId);
      if (!order) return { outcome: 'refused', reason: 'there is no such order' };
      if (order.status !== 'pending' && !(as === 'expired' && order.status === 'expired')) {
        return { outcome: 'refused', reason: 'it can no longer be changed' };
      }
      order.status = as;
      return { outcome: 'accepted' };
    });
  }

  async #answer<Outcome>(referenceId: string, operation: Operation, act: () => Outcome): Promise<Outcome | Unclear> {
    const loss = this.mannerOf(referenceId).losses[operation].shift();
    if (loss === 'request') return LOST;
    const outcome = act();
    return loss === 'answer' ? LOST : outcome;
  }

  #hearFromBank(referenceId: string, order: Order): void {
    const manner = this.mannerOf(referenceId);
    if (!order.refunds.some(({ confirmedAt }) => confirmedAt === null)) return;
    if (manner.confirmsRefundsAfter > 0) {
      manner.confirmsRefundsAfter -= 1;
      return;
    }
    order.refunds = order.refunds.map((refund) => refundOver(refund.totalRupiah, refund.refundKey, true));
    order.status = 'refunded';
  }

  #open(referenceId: string): Order {
    const order = this.orders.get(referenceId);
    if (!order) throw new Error(`There is no order ${referenceId}`);
    return order;
  }
}

function refundOver(totalRupiah: number, refundKey: string, isConfirmed: boolean): ProviderRefund {
  return { refundKey, totalRupiah, providerReference: `B-${refundKey}`, confirmedAt: isConfirmed ? new Date() : null };
}

function payloadOf(referenceId: string): string {
  return `QR of ${referenceId}`;
}
