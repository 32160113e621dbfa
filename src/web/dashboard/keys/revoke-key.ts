import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { revokeOwnKey } from '../../../services/merchants/merchant-keys';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { findKeyOfPath } from './find-key';
import { renderRevokeKeyPage } from './revoke-key-page';

const MANAGE = { area: 'developers', level: 'manage' } as const;
const PATH = '/m/:code/developers/keys/:key/revoke';

type RevokeDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const revokeKeyForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: RevokeDependencies, visit) => confirmPage(dependencies, visit, 200),
});

/** Also for a merchant that is suspended: it takes rights away. */
const revokeKeyByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: RevokeDependencies, visit) {
    const { id: keyId, revokedAt } = await findKeyOfPath(dependencies, visit);
    if (revokedAt) return confirmPage(dependencies, visit, 409);
    const action = { action: 'key.revoke', target: keyId } as const;
    await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
      revokeOwnKey(dependencies.db, { merchantId: visit.member.merchantId, keyId }),
    );
    return redirectTo(`${merchantView(dependencies, visit).paths.key(keyId)}?done=revoked`);
  },
});

export const revokeKeyPages = [revokeKeyForm, revokeKeyByForm];

async function confirmPage(
  dependencies: RevokeDependencies,
  visit: MemberVisit,
  status: number,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const shown = await findKeyOfPath(dependencies, visit);
  return pageResponse(renderRevokeKeyPage({ view, shown }), status);
}
