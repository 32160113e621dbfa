import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { keyStateOf } from '../../../domain/key-access';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { findOwnKey, rotateKey, type OwnKeyDetails } from '../../../services/merchants/merchant-keys';
import { memberPage, NO_FIELDS, type MemberVisit } from '../../page/page-route';
import type { SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { findKeyOfPath, keyRejection } from './find-key';
import { rotateKeySchema } from './key-form';
import { KEY_TEXTS } from './key-texts';
import { issuedPage } from './new-key';
import { renderRotateKeyPage } from './rotate-key-page';

const MANAGE = { area: 'developers', level: 'manage' } as const;
const PATH = '/m/:code/developers/keys/:key/rotate';

type RotateDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'publicBaseUrl'>;

/** Its hidden id is that of the new key, so a double click makes one. */
const rotateKeyForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: RotateDependencies, visit) => formPage(dependencies, visit, {}, 200),
});

const rotateKeyByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: rotateKeySchema,
  async handler(dependencies: RotateDependencies, visit, form) {
    const key = await findKeyOfPath(dependencies, visit);
    const { id: keyId } = key;
    if (!form.ok) return formPage(dependencies, visit, form.sent, 422);
    if (keyRejection(merchantView(dependencies, visit), key) !== null) {
      return formPage(dependencies, visit, form.sent, 409);
    }
    const { db, environment } = dependencies;
    const { form_id: newKeyId, overlap: overlapHours } = form.values;
    const own = { merchantId: visit.member.merchantId, keyId };
    const createdBy = { kind: 'merchant_user', id: visit.session.user.id } as const;
    const detail = JSON.stringify({ new_key: newKeyId, overlap_hours: overlapHours });
    const action = { action: 'key.rotate', target: keyId, detail } as const;
    try {
      return await issuedPage(dependencies, visit, newKeyId, async () => {
        const issued = await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
          rotateKey(db, own, { newKeyId, overlapHours, environment, createdBy }),
        );
        const { expiresAt } = await findOwnKey(db, own);
        return { issued, oldKeyEndsAt: expiresAt };
      });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return formPage(dependencies, visit, form.sent, 409);
    }
  },
});

export const rotateKeyPages = [rotateKeyForm, rotateKeyByForm];

async function formPage(
  dependencies: RotateDependencies,
  visit: MemberVisit,
  sent: SentFields,
  status: number,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const shown = await findKeyOfPath(dependencies, visit);
  const formId = z.uuid().safeParse(sent.form_id).data ?? randomUUID();
  const html = renderRotateKeyPage({
    view,
    shown,
    formId,
    overlap: sent.overlap ?? '24',
    rejection: rejectionOf(view, shown),
  });
  return pageResponse(html, status);
}

function rejectionOf(view: MerchantView, key: OwnKeyDetails): string | null {
  const state = keyStateOf(key, view.nowMs);
  if (state === 'revoked' || state === 'expired') return KEY_TEXTS[view.locale.language].detail.ended;
  return keyRejection(view, key);
}
