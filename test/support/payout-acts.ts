import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../src/db/connection/pool';
import type { Payout } from '../../src/db/payouts/list-payouts';
import type { PayableRun } from '../../src/domain/payout-preview';
import { requireDone } from '../../src/services/operations/require-done';
import { approvePayout } from '../../src/services/payouts/approve-payout';
import { cancelPayout } from '../../src/services/payouts/cancel-payout';
import { createPayout } from '../../src/services/payouts/create-payout';
import type { PayoutUser, PayoutWorkflows, RequestedPayout } from '../../src/services/payouts/payouts';
import { requestPayout } from '../../src/services/payouts/request-payout';
import { memberOf, osUser } from './actors';

interface Needs {
  readonly db: Queryable;
  readonly workflows: { readonly payouts: PayoutWorkflows };
}

interface NewOperatorPayout {
  readonly merchantId: string;
  readonly key: string;
  readonly note?: string;
}

/** @throws ConflictError with the sentence of the rejection */
export async function createByOperator(
  needs: Needs,
  { merchantId: merchant, key, note }: NewOperatorPayout,
  by = osUser('sari'),
): Promise<Payout> {
  return requireDone(
    await createPayout.run(needs, by, { path: { merchant }, input: { key }, formId: randomUUID(), note }),
  );
}

const ownerOf = (user: PayoutUser) => memberOf({ ...user, role: 'owner' });

/** @throws every other end than a payout, or that none is possible */
export async function requestByMember(
  needs: Needs,
  user: PayoutUser,
  { formToken: formId, afterPostingId, upToPostingId, grossRupiah }: PayableRun & { readonly formToken: string },
): Promise<RequestedPayout> {
  const input = { afterPostingId, upToPostingId, grossRupiah };
  const result = await requestPayout.run(needs, ownerOf(user), { path: {}, input, formId });
  if (result.outcome === 'rejected' && result.rejection.reason === 'not_payable') {
    return { outcome: 'rejected', rejection: result.rejection.why };
  }
  return { outcome: 'requested', payout: requireDone(result) };
}

interface SeenPayout {
  readonly payout: string;
  readonly version: number;
}

const actOn = ({ payout, version }: SeenPayout) => ({ path: { payout }, input: { version }, formId: randomUUID() });

/** @throws ConflictError with the sentence of the rejection */
export async function approveByMember(needs: Needs, user: PayoutUser, seen: SeenPayout): Promise<Payout> {
  return requireDone(await approvePayout.run(needs, ownerOf(user), actOn(seen)));
}

/** @throws ConflictError with the sentence of the rejection */
export async function cancelByMember(needs: Needs, user: PayoutUser, seen: SeenPayout): Promise<Payout> {
  return requireDone(await cancelPayout.run(needs, ownerOf(user), actOn(seen)));
}
