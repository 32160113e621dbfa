import type { PaymentTerms } from '../../../domain/payment';
import type { PaymentWorkflowClient } from '../../../temporal/payment-workflow-client';

/**
 * The creations that are under way in this process. Whoever asks for a payment that is just being created waits for
 * that, without another word to Temporal: ten thousand repeats at once cost it one call a process.
 */
export class SingleFlight {
  readonly #inFlight = new Map<string, Promise<void>>();

  constructor(private readonly workflows: Pick<PaymentWorkflowClient, 'createPayment'>) {}

  /** As `PaymentWorkflowClient.createPayment`. */
  create(terms: PaymentTerms): Promise<void> {
    const { paymentId } = terms;
    const known = this.#inFlight.get(paymentId);
    if (known) return known;
    const creation = this.workflows.createPayment(terms).finally(() => this.#inFlight.delete(paymentId));
    this.#inFlight.set(paymentId, creation);
    return creation;
  }
}
