import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ConflictError } from '../../../errors';
import { clientAddress } from '../../../http/auth/client-address';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { createKey, type IssuedKey } from '../../../services/merchants/keys';
import { allowsAddress } from '../../../services/merchants/merchant-keys';
import { memberPage, NO_FIELDS, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderExistingKeyPage, renderIssuedKeyPage } from './issued-key-page';
import { errorTexts, expiryOf, newKeySchema, scopesOf } from './key-form';
import { renderNewKeyPage } from './new-key-page';
import { testCommandOf } from './test-command';

const MANAGE = { area: 'developers', level: 'manage' } as const;
const PATH = '/m/:code/developers/keys/new';

type IssueDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'publicBaseUrl'>;

/** The form. Its hidden id is that of the key, so a double click makes one key. */
const newKeyForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: Pick<DashboardDependencies, 'environment'>, visit) =>
    formPage(dependencies, visit, { sent: {}, errors: {}, status: 200 }),
});

const createKeyByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: newKeySchema,
  async handler(dependencies: IssueDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const { sent } = form;
    if (merchantRejection(view) !== null) return formPage(dependencies, visit, { sent, errors: {}, status: 409 });
    const scopes = scopesOf(sent);
    const expiresAt = form.ok ? expiryOf(form.values, visit.now, view.locale) : null;
    const errors = {
      ...(!form.ok && form.errors),
      ...(scopes.length === 0 && { scopes: 'scopes' }),
      ...(view.scopesRejection(scopes) !== null && { scopes: 'foreign_scopes' }),
      ...(expiresAt === undefined && { expires_on: 'day' }),
    };
    if (!form.ok || expiresAt === undefined || 'scopes' in errors) {
      return formPage(dependencies, visit, { sent, errors: errorTexts(view.locale, errors), status: 422 });
    }
    const { form_id: id, name, networks } = form.values;
    const rights = { name, scopes, allowedNetworks: networks, expiresAt: expiresAt ?? undefined };
    const createdBy = { kind: 'merchant_user', id: visit.session.user.id } as const;
    const { environment } = dependencies;
    const newKey = { id, merchantId: visit.member.merchantId, environment, createdBy, ...rights };
    const action = { action: 'key.create', target: id, detail: JSON.stringify(rights) } as const;
    return issuedPage(dependencies, visit, id, async () => {
      const { db } = dependencies;
      const issued = await withUserAudit(db, userIdentity(dependencies, visit), action, () => createKey(db, newKey));
      return { issued, oldKeyEndsAt: null };
    });
  },
});

export const newKeyPages = [newKeyForm, createKeyByForm];

interface FormState {
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly status: number;
}

function formPage(
  dependencies: Pick<DashboardDependencies, 'environment'>,
  visit: MemberVisit,
  { status, ...form }: FormState,
): EndpointResponse {
  const view = merchantView(dependencies, visit);
  const html = renderNewKeyPage({
    view,
    formId: z.uuid().safeParse(form.sent.form_id).data ?? randomUUID(),
    address: clientAddress(visit.request),
    rejection: merchantRejection(view),
    ...form,
  });
  return pageResponse(html, status);
}

interface Issued {
  readonly issued: IssuedKey;
  /** When the key ends that the new one replaces; null: it replaces none. */
  readonly oldKeyEndsAt: Date | null;
}

/**
 * The page with the secret of a new key. It is the response to the form itself, so that the secret is in no address; a
 * repeat of the form shows that the key exists.
 */
export async function issuedPage(
  dependencies: IssueDependencies,
  visit: MemberVisit,
  keyId: string,
  issue: () => Promise<Issued>,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  try {
    const { issued, oldKeyEndsAt } = await issue();
    const address = clientAddress(visit.request);
    const html = renderIssuedKeyPage({
      view,
      issued,
      command: testCommandOf(issued, dependencies.publicBaseUrl),
      outsideAddress: allowsAddress(issued.allowedNetworks, address) ? null : address,
      oldKeyEndsAt,
    });
    return pageResponse(html);
  } catch (error) {
    if (!(error instanceof ConflictError) || error.reason !== 'key_exists') throw error;
    return pageResponse(renderExistingKeyPage({ view, keyId }));
  }
}
