import type { PaymentTerms } from '../../domain/payment';
import type { PaymentsEngine } from '../../engine/payments-engine';

/**
 * The creations that are under way in this process. Whoever asks for a payment that is just being created waits for
 * that, without another word to Temporal: ten thousand repeats at once cost it one call a process.
 */
export class Creations {
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(private readonly engine: Pick<PaymentsEngine, 'createPayment'>) {}

  /** As `PaymentsEngine.createPayment`. */
  create(terms: PaymentTerms): Promise<void> {
    const { paymentId } = terms;
    const known = this.#underWay.get(paymentId);
    if (known) return known;
    const creation = this.engine.createPayment(terms).finally(() => this.#underWay.delete(paymentId));
    this.#underWay.set(paymentId, creation);
    return creation;
  }
}
