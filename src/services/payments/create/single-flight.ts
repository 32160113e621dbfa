import type { PaymentTerms } from '../../../domain/payment';
import type { ProviderName } from '../../../domain/provider-capabilities';
import { UPDATE_TIMEOUT_MS } from '../../../temporal/bounded-client';
import type { PaymentWorkflowClient } from '../../../temporal/payment-workflow-client';
import type { Admission, CreationOutcome } from './admission';

interface AdmittedCreation {
  readonly prepared: Promise<void>;
  /** The rest of the time until the response. */
  readonly timeoutMs: number;
  readonly hasWaited: boolean;
}

/**
 * The creations in flight in this process. A request for a payment that is being created waits for that creation. So
 * ten thousand concurrent repeats cost Temporal one call per process, and need one slot.
 */
export class SingleFlight {
  readonly #inFlight = new Map<string, Promise<void>>();

  constructor(
    private readonly workflows: Pick<PaymentWorkflowClient, 'createPayment'>,
    private readonly admission: Pick<Admission, 'requireSlot' | 'admit' | 'admitBulk' | 'release'>,
  ) {}

  /** @throws CreationRejectedError `creates_in_flight` if a new payment could not be admitted */
  requireSlot({ paymentId }: Pick<PaymentTerms, 'paymentId'>, merchantId: string, provider: ProviderName): void {
    if (!this.#inFlight.has(paymentId)) this.admission.requireSlot(merchantId, provider);
  }

  /**
   * Creates a payment, as `PaymentWorkflowClient.createPayment`.
   * @param prepare what the creation needs first; it is called only for an admitted request
   * @throws CreationRejectedError `creates_in_flight` if the request is not admitted; then nothing is created
   */
  async create(terms: PaymentTerms, prepare: () => Promise<void>): Promise<void> {
    if (!this.#inFlight.has(terms.paymentId)) {
      this.admission.admit(terms);
      const admitted = Promise.resolve({ prepared: prepare(), timeoutMs: UPDATE_TIMEOUT_MS, hasWaited: false });
      this.#inFlight.set(terms.paymentId, this.#create(terms, admitted));
    }
    await this.#inFlight.get(terms.paymentId);
  }

  /** Creates the items of a bulk, which may wait for its turn. */
  createAll(terms: readonly PaymentTerms[], prepare: () => Promise<void>): Promise<void>[] {
    const added = terms.filter(({ paymentId }) => !this.#inFlight.has(paymentId));
    if (added[0]) {
      const startedMs = performance.now();
      // One request has one merchant and one provider, and so one provider account.
      const admitted = this.admission.admitBulk(added[0], added.length).then((hasWaited) => {
        const timeoutMs = UPDATE_TIMEOUT_MS - (performance.now() - startedMs);
        return { prepared: prepare(), timeoutMs, hasWaited };
      });
      for (const own of added) this.#inFlight.set(own.paymentId, this.#create(own, admitted));
    }
    return terms.map(({ paymentId }) => this.#inFlight.get(paymentId) ?? Promise.resolve());
  }

  async #create(terms: PaymentTerms, admitted: Promise<AdmittedCreation>): Promise<void> {
    try {
      await this.#createAdmitted(terms, await admitted);
    } finally {
      this.#inFlight.delete(terms.paymentId);
    }
  }

  async #createAdmitted(terms: PaymentTerms, { prepared, timeoutMs, hasWaited }: AdmittedCreation): Promise<void> {
    let outcome: CreationOutcome = hasWaited ? 'too_late' : 'failed';
    try {
      await prepared;
      await this.workflows.createPayment(terms, timeoutMs);
      outcome = 'completed';
    } finally {
      this.admission.release(terms, outcome);
    }
  }
}
