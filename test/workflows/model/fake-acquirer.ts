import type {
  ClosePaymentOutcome,
  FindPaymentOutcome,
  Indeterminate,
  IssueQrisOutcome,
  IssueQrisRequest,
  NotificationVerification,
  OrderKey,
  Provider,
  ProviderPayment,
  ProviderRefund,
  RefundOutcome,
  RefundRequest,
} from '../../../src/providers/provider';

/** An order in the records of the acquirer. */
export interface FakeOrder {
  status: ProviderPayment['status'];
  totalRupiah: number;
  readonly transactionId: string;
  paidAt: Date | null;
  refunds: ProviderRefund[];
  /** How often it was created. */
  charges: number;
}

/** What the next call loses: its request never arrives, or its response does not. */
export type Loss = 'request' | 'response';
export type FakeOperation = 'issue' | 'find' | 'close' | 'refund';

/** How the acquirer treats one order. */
export interface Behaviour {
  rejectsOrder: boolean;
  rejectsRefunds: boolean;
  /** The bank confirms a refund after this many status queries. */
  confirmsRefundsAfter: number;
  /** A status query returns the payload of the QR code, too. */
  repeatsQris: boolean;
  readonly losses: Record<FakeOperation, Loss[]>;
}

const LOST: Indeterminate = { outcome: 'indeterminate', reason: 'no response' };

/** An in-process acquirer: an independent implementation of `Provider` that can lose any message. */
export class FakeAcquirer implements Provider {
  readonly orders = new Map<string, FakeOrder>();
  readonly #behaviours = new Map<string, Behaviour>();

  behaviourOf(referenceId: string): Behaviour {
    const known = this.#behaviours.get(referenceId);
    if (known) return known;
    const losses = { issue: [], find: [], close: [], refund: [] };
    const behaviour = {
      rejectsOrder: false,
      rejectsRefunds: false,
      confirmsRefundsAfter: 0,
      repeatsQris: true,
      losses,
    };
    this.#behaviours.set(referenceId, behaviour);
    return behaviour;
  }

  /** The acquirer also accepts the payment of an order that is expired or cancelled. */
  pay(referenceId: string): void {
    const order = this.#open(referenceId);
    order.status = 'paid';
    order.paidAt = new Date();
  }

  /** In the acquirer's dashboard. */
  closeManually(referenceId: string, as: 'denied' | 'cancelled'): void {
    this.#open(referenceId).status = as;
  }

  refundManually(referenceId: string): void {
    const order = this.#open(referenceId);
    order.status = 'refunded';
    order.refunds.push(refundOver(order.totalRupiah, 'by hand', true));
  }

  /** The bank rejects a refund of the dashboard: the acquirer lists none any more. */
  removeRefunds(referenceId: string): void {
    const order = this.#open(referenceId);
    order.status = 'paid';
    order.refunds = [];
  }

  /** The acquirer's records are wrong. */
  changeAmount(referenceId: string): void {
    this.#open(referenceId).totalRupiah += 1_000;
  }

  removeOrder(referenceId: string): void {
    this.#open(referenceId);
    this.orders.delete(referenceId);
  }

  async issueQris({ referenceId, totalRupiah }: IssueQrisRequest): Promise<IssueQrisOutcome> {
    const behaviour = this.behaviourOf(referenceId);
    return this.#respond(referenceId, 'issue', () => {
      if (behaviour.rejectsOrder) return { outcome: 'rejected', reason: 'over the limit of the account' };
      const known = this.orders.get(referenceId);
      if (known) return { outcome: 'indeterminate', reason: 'there is such an order already' };
      const order: FakeOrder = {
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

  async findPayment({ referenceId }: OrderKey): Promise<FindPaymentOutcome> {
    return this.#respond<FindPaymentOutcome>(referenceId, 'find', () => {
      const order = this.orders.get(referenceId);
      if (!order) return { outcome: 'not_found' };
      this.#confirmByBank(referenceId, order);
      const { status, totalRupiah, transactionId, paidAt, refunds } = order;
      const qrisPayload = this.behaviourOf(referenceId).repeatsQris ? payloadOf(referenceId) : null;
      const payment = { status, totalRupiah, providerTransactionId: transactionId, paidAt, qrisPayload };
      return { outcome: 'found', payment: { ...payment, refunds: [...refunds] } };
    });
  }

  expirePayment({ referenceId }: OrderKey): Promise<ClosePaymentOutcome> {
    return this.#close(referenceId, 'expired');
  }

  cancelPayment({ referenceId }: OrderKey): Promise<ClosePaymentOutcome> {
    return this.#close(referenceId, 'cancelled');
  }

  async refundPayment({ referenceId, refundKey, totalRupiah }: RefundRequest): Promise<RefundOutcome> {
    const behaviour = this.behaviourOf(referenceId);
    return this.#respond<RefundOutcome>(referenceId, 'refund', () => {
      const order = this.#open(referenceId);
      if (order.refunds.some((refund) => refund.refundKey === refundKey)) return { outcome: 'accepted' };
      if (behaviour.rejectsRefunds || order.status !== 'paid' || order.refunds.length > 0) {
        return { outcome: 'rejected', reason: 'it cannot be refunded' };
      }
      order.refunds.push(refundOver(totalRupiah, refundKey, false));
      this.#confirmByBank(referenceId, order);
      return { outcome: 'accepted' };
    });
  }

  verifyNotification(): NotificationVerification {
    throw new Error('The model sends no notifications');
  }

  #close(referenceId: string, as: 'expired' | 'cancelled'): Promise<ClosePaymentOutcome> {
    return this.#respond<ClosePaymentOutcome>(referenceId, 'close', () => {
      const order = this.orders.get(referenceId);
      if (!order) return { outcome: 'rejected', reason: 'there is no such order' };
      if (order.status !== 'pending' && !(as === 'expired' && order.status === 'expired')) {
        return { outcome: 'rejected', reason: 'it can no longer be changed' };
      }
      order.status = as;
      return { outcome: 'accepted' };
    });
  }

  async #respond<Outcome>(
    referenceId: string,
    operation: FakeOperation,
    act: () => Outcome,
  ): Promise<Outcome | Indeterminate> {
    const loss = this.behaviourOf(referenceId).losses[operation].shift();
    if (loss === 'request') return LOST;
    const outcome = act();
    return loss === 'response' ? LOST : outcome;
  }

  #confirmByBank(referenceId: string, order: FakeOrder): void {
    const behaviour = this.behaviourOf(referenceId);
    if (!order.refunds.some(({ confirmedAt }) => confirmedAt === null)) return;
    if (behaviour.confirmsRefundsAfter > 0) {
      behaviour.confirmsRefundsAfter -= 1;
      return;
    }
    order.refunds = order.refunds.map((refund) => refundOver(refund.totalRupiah, refund.refundKey, true));
    order.status = 'refunded';
  }

  #open(referenceId: string): FakeOrder {
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
