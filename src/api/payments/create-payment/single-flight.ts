import type { PaymentTerms } from '../../../domain/payment';
import type { PaymentWorkflowClient } from '../../../temporal/payment-workflow-client';
import { ApiError } from '../../api-error';

/**
 * Two bulks and 28 single creations. With more, the creations of one merchant would delay those of all others.
 */
const MAX_IN_FLIGHT_OF_MERCHANT = 128;

/** A creation takes a fraction of a second. */
const RETRY_AFTER_SECONDS = 1;

/**
 * The creations in flight in this process. A request for a payment that is being created waits for that creation. So
 * ten thousand concurrent repeats cost Temporal one call per process.
 */
export class SingleFlight {
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #countByMerchant = new Map<string, number>();

  constructor(private readonly workflows: Pick<PaymentWorkflowClient, 'createPayment'>) {}

  /**
   * Creates the payments of one request, each as `PaymentWorkflowClient.createPayment`.
   * @throws ApiError `rate_limited` if the merchant had too many in flight; then none is created
   */
  createAll(merchantId: string, terms: readonly PaymentTerms[]): Promise<void>[] {
    const added = terms.filter(({ paymentId }) => !this.#inFlight.has(paymentId)).length;
    if (added > 0 && this.#countOf(merchantId) + added > MAX_IN_FLIGHT_OF_MERCHANT) {
      throw new ApiError(
        'rate_limited',
        `A merchant may have ${MAX_IN_FLIGHT_OF_MERCHANT} creations in flight; try again in ${RETRY_AFTER_SECONDS} s.`,
        { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) }, internal: `creations of merchant ${merchantId}` },
      );
    }
    return terms.map((own) => this.#inFlight.get(own.paymentId) ?? this.#create(merchantId, own));
  }

  #create(merchantId: string, terms: PaymentTerms): Promise<void> {
    const { paymentId } = terms;
    this.#countByMerchant.set(merchantId, this.#countOf(merchantId) + 1);
    const creation = this.workflows.createPayment(terms).finally(() => {
      this.#inFlight.delete(paymentId);
      const left = this.#countOf(merchantId) - 1;
      if (left === 0) this.#countByMerchant.delete(merchantId);
      else this.#countByMerchant.set(merchantId, left);
    });
    this.#inFlight.set(paymentId, creation);
    return creation;
  }

  #countOf(merchantId: string): number {
    return this.#countByMerchant.get(merchantId) ?? 0;
  }
}
