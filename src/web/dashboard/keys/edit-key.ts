import { clientAddress } from '../../../http/auth/client-address';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { updateKey, type OwnKeyDetails } from '../../../services/merchants/merchant-keys';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderEditKeyPage } from './edit-key-page';
import { findKeyOfPath, keyRejection } from './find-key';
import { editKeySchema, errorTexts } from './key-form';

const MANAGE = { area: 'developers', level: 'manage' } as const;
const PATH = '/m/:code/developers/keys/:key/edit';

type EditDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const editKeyForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: EditDependencies, visit) {
    const key = await findKeyOfPath(dependencies, visit);
    const values = { name: key.name ?? '', networks: key.allowedNetworks.join('\n') };
    return formPage(merchantView(dependencies, visit), visit, key, { values, errors: {}, status: 200 });
  },
});

const editKey = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: editKeySchema,
  async handler(dependencies: EditDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const values = { name: form.sent.name ?? '', networks: form.sent.networks ?? '' };
    const key = await findKeyOfPath(dependencies, visit);
    if (!form.ok) {
      return formPage(view, visit, key, { values, errors: errorTexts(view.locale, form.errors), status: 422 });
    }
    const { id: keyId } = key;
    if (keyRejection(view, key) !== null) return formPage(view, visit, key, { values, errors: {}, status: 409 });
    const { merchantId } = visit.member;
    const changes = { name: form.values.name, allowedNetworks: form.values.networks };
    const action = { action: 'key.update', target: keyId, detail: JSON.stringify(changes) } as const;
    await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
      updateKey(dependencies.db, { merchantId, keyId }, changes),
    );
    return redirectTo(`${view.paths.key(keyId)}?done=saved`);
  },
});

export const editKeyPages = [editKeyForm, editKey];

interface FormState {
  readonly values: { readonly name: string; readonly networks: string };
  readonly errors: FieldErrors;
  readonly status: number;
}

function formPage(
  view: MerchantView,
  visit: MemberVisit,
  shown: OwnKeyDetails,
  { status, ...form }: FormState,
): EndpointResponse {
  const address = clientAddress(visit.request);
  const rejection = keyRejection(view, shown);
  return pageResponse(renderEditKeyPage({ view, shown, address, rejection, ...form }), status);
}
