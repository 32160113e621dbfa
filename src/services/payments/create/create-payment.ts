import type { DerivedKeys } from '../../../crypto/derived-keys';
import type { Sealer } from '../../../crypto/sealing';
import type { Queryable } from '../../../db/connection/pool';
import type { CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findOriginalResponse, type OriginalResponse } from '../../../db/payments/find-original-response';
import { storeDetails } from '../../../db/payments/payment-details';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { ExplainedFailure } from '../../../errors';
import { isWithoutResponse } from '../../../temporal/grpc-errors';
import { logPayment } from '../../../temporal/log-payment';
import type { LostWorkflows } from '../../recovery/lost-workflows';
import { captureTerms, resolvePolicy } from './capture-terms';
import { CreationRejectedError, type NotCreated } from './create-rejection';
import { sealedDetailsOf, type PaymentDraft } from './payment-draft';
import { requireSameRequest } from './require-same-request';
import type { SingleFlight } from './single-flight';

/** What creates payments. */
export interface CreateDependencies {
  readonly db: Queryable;
  readonly createFlights: SingleFlight;
  readonly lostWorkflows: Pick<LostWorkflows, 'check'>;
  readonly sealer: Sealer;
  readonly derivedKeys: DerivedKeys;
}

/** A payment with a QR. */
export interface Created {
  readonly outcome: 'created';
  /** The status and `updatedAt` of the payment can have changed since the QR was issued. */
  readonly payment: PaymentRow;
  readonly issuedAt: Date;
  /** An earlier request with the key created it. */
  readonly isRepeat: boolean;
}

/**
 * Creates a payment, or finds the one of an earlier request with the key.
 * @throws ExplainedFailure if no QR comes in time: a repeat of the request continues the same payment
 */
export async function createPayment(
  dependencies: CreateDependencies,
  by: CreatingMerchantRow,
  draft: PaymentDraft,
): Promise<Created | NotCreated> {
  try {
    return await create(dependencies, by, draft);
  } catch (error) {
    if (error instanceof CreationRejectedError) return { outcome: 'rejected', rejection: error.rejection };
    throw error;
  }
}

async function create(
  dependencies: CreateDependencies,
  by: CreatingMerchantRow,
  draft: PaymentDraft,
): Promise<Created> {
  const { db, createFlights, lostWorkflows } = dependencies;
  const { paymentId, idempotencyKey } = draft.identity;
  logPayment(paymentId);
  const found = idempotencyKey === null ? undefined : await findOriginalResponse(db, paymentId);
  const earlier = found && (await requireSameRequest(dependencies, found, draft));
  if (earlier?.original) return toCreated(earlier.payment, earlier.original, true);

  createFlights.requireSlot(draft.identity, by.merchantId, draft.request.provider);
  const policy = await resolvePolicy(dependencies, by, draft.request);
  const terms = captureTerms(by, draft, policy);
  const prepare = () => storeDetails(db, sealedDetailsOf(dependencies, [draft]));
  await createFlights.create(terms, prepare).catch((error: unknown) => {
    throw isWithoutResponse(error)
      ? new ExplainedFailure(`no QR in time for ${terms.referenceId}`, { cause: error })
      : error;
  });
  const written = await findOriginalResponse(db, paymentId);
  const created = written && (await requireSameRequest(dependencies, written, draft));
  if (!created?.original) {
    // Temporal has ended its workflow before the provider's response: the next repeat of the request joins a new one.
    if (created) lostWorkflows.check(created.payment);
    throw new ExplainedFailure(`${terms.referenceId} was created, and its workflow ended before the QR`);
  }
  return toCreated(created.payment, created.original, false);
}

/** @throws CreationRejectedError if the provider issued no QR */
function toCreated(
  payment: PaymentRow,
  { status, at }: NonNullable<OriginalResponse['original']>,
  isRepeat: boolean,
): Created {
  if (status === 'pending') return { outcome: 'created', payment, issuedAt: at, isRepeat };
  const { failureReason } = payment;
  throw new CreationRejectedError({ reason: 'provider_rejected', failureReason, status: payment.status, isRepeat });
}
