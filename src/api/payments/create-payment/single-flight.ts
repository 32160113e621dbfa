import type { PaymentTerms } from '../../../domain/payment';
import type { ProviderName } from '../../../domain/provider-capabilities';
import type { PaymentWorkflowClient } from '../../../temporal/payment-workflow-client';
import type { Admission } from '../../admission';

/**
 * The creations in flight in this process. A request for a payment that is being created waits for that creation. So
 * ten thousand concurrent repeats cost Temporal one call per process, and need one slot.
 */
export class SingleFlight {
  readonly #inFlight = new Map<string, Promise<void>>();

  constructor(
    private readonly workflows: Pick<PaymentWorkflowClient, 'createPayment'>,
    private readonly admission: Pick<Admission, 'requireSlot' | 'admit' | 'release'>,
  ) {}

  /** @throws ApiError `rate_limited` if a new payment could not be admitted */
  requireSlot({ paymentId }: Pick<PaymentTerms, 'paymentId'>, merchantId: string, provider: ProviderName): void {
    if (!this.#inFlight.has(paymentId)) this.admission.requireSlot(merchantId, provider);
  }

  /**
   * Creates the payments of one request, each as `PaymentWorkflowClient.createPayment`.
   * @param prepare what all of them need first; it is called only for an admitted request
   * @throws ApiError `rate_limited` if the request is not admitted; then none is created
   */
  createAll(terms: readonly PaymentTerms[], prepare: () => Promise<void>): Promise<void>[] {
    const added = terms.filter(({ paymentId }) => !this.#inFlight.has(paymentId));
    if (added[0]) {
      // One request has one merchant and one provider, and so one provider account.
      this.admission.admit(added[0], added.length);
      const prepared = prepare();
      for (const own of added) this.#inFlight.set(own.paymentId, this.#create(own, prepared));
    }
    return terms.map(({ paymentId }) => this.#inFlight.get(paymentId) ?? Promise.resolve());
  }

  async #create(terms: PaymentTerms, prepared: Promise<void>): Promise<void> {
    let isCompleted = false;
    try {
      await prepared;
      await this.workflows.createPayment(terms);
      isCompleted = true;
    } finally {
      this.#inFlight.delete(terms.paymentId);
      this.admission.release(terms, isCompleted);
    }
  }
}
