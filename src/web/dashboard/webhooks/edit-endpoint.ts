import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../../domain/events';
import { EXPANSIONS, scopesOfExpansions, type Expansion } from '../../../domain/expansions';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  createEndpoint,
  ReceiverUrlError,
  setEndpoint,
  type WebhookEndpoint,
} from '../../../services/webhooks/webhook-endpoints';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { FieldErrors, FormResult, SentFields } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { eventField, expansionField } from './endpoint-fields';
import { renderEndpointFormPage } from './endpoint-form-page';
import { findEndpointOfPath } from './find-endpoint';
import { renderSecretPage } from './secret-page';
import { WEBHOOK_TEXTS } from './webhook-texts';

const MANAGE = { area: 'developers', level: 'manage' } as const;
const NEW_PATH = '/m/:code/developers/webhooks/new';
const EDIT_PATH = '/m/:code/developers/webhooks/:endpoint/edit';

const endpointSchema = z.object({
  form_id: z.uuid({ error: 'form' }),
  url: z.string({ error: 'url' }).max(2_048, { error: 'url' }),
  scope: z.enum(['all', 'listed'], { error: 'events' }),
});

type EditDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer' | 'receiverRules'>;

/** The form. Its hidden id is that of the endpoint, so a double click makes one. */
const newEndpointForm = memberPage(MANAGE, {
  method: 'get',
  path: NEW_PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: EditDependencies, visit) =>
    formPage(dependencies, visit, { before: null, sent: {}, errors: {}, status: 200 }),
});

const createEndpointByForm = memberPage(MANAGE, {
  method: 'post',
  path: NEW_PATH,
  stepUp: true,
  fields: endpointSchema,
  handler: async (dependencies: EditDependencies, visit, form) =>
    submit(dependencies, visit, { form, before: null }, async ({ url, events, expand, formId }) => {
      const { db, sealer, receiverRules } = dependencies;
      const view = merchantView(dependencies, visit);
      const endpoint = { id: formId, merchantId: visit.member.merchantId, url, events, expand, ...receiverRules };
      const detail = JSON.stringify({ events, expand, url: originOf(url) });
      const action = { action: 'webhook.create', target: formId, detail } as const;
      const shown = { view, endpointId: formId, oldSecret: null };
      try {
        const { secret, duplicateOf } = await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
          createEndpoint(db, sealer, endpoint),
        );
        return pageResponse(renderSecretPage({ ...shown, secret, duplicateOf }));
      } catch (error) {
        if (!(error instanceof ConflictError) || error.reason !== 'endpoint_exists') throw error;
        return pageResponse(renderSecretPage({ ...shown, secret: null, duplicateOf: null }));
      }
    }),
});

const editEndpointForm = memberPage(MANAGE, {
  method: 'get',
  path: EDIT_PATH,
  stepUp: true,
  fields: NO_FIELDS,
  async handler(dependencies: EditDependencies, visit) {
    const before = await findEndpointOfPath(dependencies, visit);
    const { url, events, expand } = before;
    const chosen = [...(events ?? []).map(eventField), ...expand.map(expansionField)].map((name) => [name, 'on']);
    const sent = { url, scope: events === null ? 'all' : 'listed', ...Object.fromEntries(chosen) };
    return formPage(dependencies, visit, { before, sent, errors: {}, status: 200 });
  },
});

const editEndpointByForm = memberPage(MANAGE, {
  method: 'post',
  path: EDIT_PATH,
  stepUp: true,
  fields: endpointSchema,
  async handler(dependencies: EditDependencies, visit, form) {
    const before = await findEndpointOfPath(dependencies, visit);
    return submit(dependencies, visit, { form, before }, async ({ url, events, expand }) => {
      const { db, receiverRules } = dependencies;
      const urls = { url_before: originOf(before.url), url: originOf(url) };
      const detail = JSON.stringify({ events, expand_before: before.expand, expand, ...urls });
      const action = { action: 'webhook.set', target: before.id, detail } as const;
      await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
        setEndpoint(db, before.id, { url, events, expand, ...receiverRules }, visit.member.merchantId),
      );
      return redirectTo(`${merchantView(dependencies, visit).paths.webhook(before.id)}?done=saved`);
    });
  },
});

export const editEndpointPages = [newEndpointForm, createEndpointByForm, editEndpointForm, editEndpointByForm];

/** The scheme and the host of a URL, for the audit: its path and query may have a secret. Null: it is no URL. */
function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** The endpoint before the change; null: a new one. */
type EndpointBefore = Pick<WebhookEndpoint, 'id' | 'url' | 'expand'> | null;

interface Submission {
  readonly form: FormResult<z.output<typeof endpointSchema>>;
  readonly before: EndpointBefore;
}

interface ValidFields {
  readonly formId: string;
  readonly url: string;
  /** Empty: every event of payments. */
  readonly events: typeof WEBHOOK_EVENTS;
  readonly expand: readonly Expansion[];
}

/** Performs the work for valid fields; else the form again, with the errors beside the fields. */
async function submit(
  dependencies: EditDependencies,
  visit: MemberVisit,
  { form, before }: Submission,
  work: (fields: ValidFields) => Promise<EndpointResponse>,
): Promise<EndpointResponse> {
  const { sent } = form;
  const view = merchantView(dependencies, visit);
  const again = (codes: FieldErrors, status: number) =>
    formPage(dependencies, visit, { before, sent, errors: codes, status });
  if (editRejection(view, before) !== null) return again({}, 409);
  const listed = WEBHOOK_EVENTS.filter((event) => sent[eventField(event)] !== undefined);
  const expand = EXPANSIONS.filter((name) => sent[expansionField(name)] !== undefined);
  const errors = {
    ...(!form.ok && form.errors),
    ...(sent.scope === 'listed' && listed.length === 0 && { events: 'events' }),
    ...(view.scopesRejection(scopesOfExpansions(expand)) !== null && { expand: 'foreign_members' }),
  };
  if (!form.ok || Object.keys(errors).length > 0) return again(errors, 422);
  const { form_id: formId, url, scope } = form.values;
  try {
    return await work({ formId, url, events: scope === 'all' ? [] : listed, expand });
  } catch (error) {
    if (error instanceof ReceiverUrlError) return again({ url: error.rule }, 422);
    throw error;
  }
}

/**
 * Why the user cannot change the endpoint: another address would receive what the endpoint adds, which may exceed the
 * user's rights. Null: they can.
 */
function editRejection(view: MerchantView, before: EndpointBefore): string | null {
  return view.scopesRejection(scopesOfExpansions(before?.expand ?? [])) ?? merchantRejection(view);
}

interface FormState {
  readonly before: EndpointBefore;
  readonly sent: SentFields;
  readonly errors: FieldErrors;
  readonly status: number;
}

function formPage(
  dependencies: Pick<EditDependencies, 'environment'>,
  visit: MemberVisit,
  { before, sent, errors, status }: FormState,
): EndpointResponse {
  const view = merchantView(dependencies, visit);
  const formId = z.uuid().safeParse(sent.form_id).data ?? randomUUID();
  const texts = errorTexts(WEBHOOK_TEXTS[view.locale.language].form.errors, errors);
  const endpointId = before?.id ?? null;
  const page = { view, endpointId, formId, rejection: editRejection(view, before), sent, errors: texts };
  return pageResponse(renderEndpointFormPage(page), status);
}

function errorTexts(texts: Readonly<Partial<Record<string, string>>>, codes: FieldErrors): FieldErrors {
  const entries = Object.entries(codes).map(([name, code]) => {
    const field = name === 'form_id' ? 'url' : ['url', 'expand'].includes(name) ? name : 'events';
    return [field, texts[code] ?? texts.form ?? code] as const;
  });
  return Object.fromEntries(entries);
}
