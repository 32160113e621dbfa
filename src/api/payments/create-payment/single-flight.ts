import type { PaymentTerms } from '../../../domain/payment';
import type { PaymentWorkflowClient } from '../../../temporal/payment-workflow-client';

/**
 * The creations in flight in this process. A request for a payment that is being created waits for that creation. So
 * ten thousand concurrent repeats cost Temporal one call per process.
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
