import type { CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findOriginalResponses, type OriginalResponse } from '../../../db/payments/find-original-response';
import { storeDetails } from '../../../db/payments/payment-details';
import type { PaymentTerms } from '../../../domain/payment';
import { addLogIds } from '../../../observability/correlation';
import { captureTerms, resolvePolicy } from './capture-terms';
import type { CreateDependencies } from './create-payment';
import { CreationRejectedError, type NotCreated } from './create-rejection';
import { sealedDetailsOf, type PaymentDraft } from './payment-draft';
import { requireSameRequest } from './require-same-request';

type BulkDependencies = Pick<CreateDependencies, 'db' | 'createFlights' | 'sealer' | 'derivedKeys'>;

/** The payments of a bulk, in its order. One without a result at the deadline has no original status. */
export interface CreatedBulk {
  readonly outcome: 'created';
  readonly payments: readonly OriginalResponse[];
  /** Earlier requests created all of them. */
  readonly isRepeat: boolean;
}

/** The whole bulk is rejected. */
export interface RejectedBulk extends NotCreated {
  /** The index of the item that is not possible; null: the rejection is not of one item. */
  readonly item: number | null;
}

/**
 * Creates payments concurrently, each under its own key. Nothing is created if one of them is not possible. The
 * provider can still reject some of them.
 * @param by the merchant of all drafts
 * @param drafts each of another payment, all of one provider
 * @throws Error if one of the payments is not stored: the same request may be sent again
 */
export async function createPayments(
  dependencies: BulkDependencies,
  by: CreatingMerchantRow,
  drafts: readonly PaymentDraft[],
): Promise<CreatedBulk | RejectedBulk> {
  try {
    return await createAll(dependencies, by, drafts);
  } catch (error) {
    if (!(error instanceof CreationRejectedError)) throw error;
    return { outcome: 'rejected', rejection: error.rejection, item: error.item };
  }
}

async function createAll(
  dependencies: BulkDependencies,
  by: CreatingMerchantRow,
  drafts: readonly PaymentDraft[],
): Promise<CreatedBulk> {
  const ids = drafts.map(({ identity }) => identity.paymentId);
  addLogIds({ paymentIds: ids });
  const earlier = await findSamePayments(dependencies, drafts);

  const terms = await captureOpenTerms(dependencies, by, drafts, earlier);
  const prepare = () => storeDetails(dependencies.db, sealedDetailsOf(dependencies, drafts));
  const creations = dependencies.createFlights.createAll(terms, prepare);
  const failures = await Promise.all(creations.map((creation) => creation.catch((error: unknown) => error)));
  const rejection = failures.find((failure) => failure instanceof CreationRejectedError);
  if (rejection && failures.every((failure) => failure instanceof CreationRejectedError)) throw rejection;
  const created = terms.length === 0 ? earlier : await findSamePayments(dependencies, drafts);
  const payments = ids.flatMap((id) => created.get(id) ?? []);
  // A payment that was not stored fails the whole request, so that it is repeated.
  if (payments.length < ids.length)
    throw rejection ?? new AggregateError(failures.filter(Boolean), 'Not every payment was created');
  return { outcome: 'created', payments, isRepeat: terms.length === 0 };
}

/** The results of the items that exist, by payment id. @throws CreationRejectedError if a key has another payment */
async function findSamePayments(
  dependencies: BulkDependencies,
  drafts: readonly PaymentDraft[],
): Promise<ReadonlyMap<string, OriginalResponse>> {
  const ids = drafts.map(({ identity }) => identity.paymentId);
  const found = await findOriginalResponses(dependencies.db, ids);
  const responses = new Map<string, OriginalResponse>();
  for (const [item, draft] of drafts.entries()) {
    const { paymentId } = draft.identity;
    const earlier = found.get(paymentId);
    if (!earlier) continue;
    responses.set(paymentId, await ofItem(item, () => requireSameRequest(dependencies, earlier, draft)));
  }
  return responses;
}

/** The terms of all items that do not exist yet, so that an impossible item is found before any is created. */
async function captureOpenTerms(
  dependencies: BulkDependencies,
  by: CreatingMerchantRow,
  drafts: readonly PaymentDraft[],
  earlier: ReadonlyMap<string, OriginalResponse>,
): Promise<PaymentTerms[]> {
  const open = [...drafts.entries()].filter(([, { identity }]) => !earlier.get(identity.paymentId)?.original);
  if (!open[0]) return [];
  const policy = await resolvePolicy(dependencies, by, open[0][1].request);
  return Promise.all(open.map(([item, draft]) => ofItem(item, async () => captureTerms(by, draft, policy))));
}

/** Adds the item to a rejection. */
async function ofItem<Result>(item: number, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CreationRejectedError ? new CreationRejectedError(error.rejection, item) : error;
  }
}
