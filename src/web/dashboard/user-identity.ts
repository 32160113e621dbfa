import type { MemberActor } from '../../domain/actor';
import { STEP_UP_LIMITS } from '../../domain/sign-in';
import { clientAddress } from '../../http/auth/client-address';
import type { UserIdentity } from '../../services/audit/user-audit';
import { isSteppedUp } from '../../services/identity/sessions';
import type { MemberVisit } from '../page/page-route';
import type { DashboardDependencies } from './dashboard-dependencies';

/** Who acts, for the log of user actions. */
export function userIdentity(
  { log }: Pick<DashboardDependencies, 'log'>,
  { request, session, member }: MemberVisit,
): UserIdentity {
  return { userId: session.user.id, merchantId: member.merchantId, address: clientAddress(request), log };
}

/** The member who acts, for an operation. */
export function memberActor({ request, session, member, now }: MemberVisit): MemberActor {
  return {
    kind: 'merchant_user',
    id: session.user.id,
    door: 'dashboard',
    merchantId: member.merchantId,
    role: member.role,
    merchantState: member.merchantStatus,
    address: clientAddress(request),
    hasProved: isSteppedUp(session, STEP_UP_LIMITS[request.method === 'POST' ? 'postMs' : 'formMs'], now),
  };
}
