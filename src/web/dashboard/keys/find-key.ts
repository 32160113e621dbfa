import { z } from 'zod';
import { NotFoundError } from '../../../errors';
import { findOwnKey, type OwnKeyDetails } from '../../../services/merchants/merchant-keys';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, type MerchantView } from '../merchant-view';

/**
 * The key of the path.
 * @throws PageError `not_found`, also for a key of another merchant
 */
export async function findKeyOfPath(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<OwnKeyDetails> {
  const keyId = z.uuid().safeParse(request.params.key).data;
  if (keyId === undefined) throw new PageError('not_found', 'the path has no id of a key');
  return findOwnKey(db, { merchantId: member.merchantId, keyId }).catch((error: unknown) => {
    throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
  });
}

/** Why the user cannot rotate or edit the key: both need the right to give every scope of it. Null: they can. */
export function keyRejection(view: MerchantView, { scopes }: Pick<OwnKeyDetails, 'scopes'>): string | null {
  return view.scopesRejection(scopes) ?? merchantRejection(view);
}
