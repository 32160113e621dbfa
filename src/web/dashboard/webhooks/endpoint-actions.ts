import { z } from 'zod';
import type { PingReport } from '../../../domain/ping-report';
import { ConflictError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
  type WebhookEndpoint,
} from '../../../services/webhooks/webhook-endpoints';
import { rotateSecret } from '../../../services/webhooks/webhook-secrets';
import { isTimeout } from '../../../temporal/grpc-errors';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderEndpointConfirmPage, SECRET_OVERLAPS, type EndpointAction } from './endpoint-confirm-page';
import { findEndpointOfPath } from './find-endpoint';
import { renderSecretPage } from './secret-page';
import { WEBHOOK_TEXTS } from './webhook-texts';

const MANAGE = { area: 'developers', level: 'manage' } as const;

type ActionDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer' | 'workflows'>;

const actionSchema = z.object({
  form_id: z.uuid({ error: 'form' }),
  overlap: z.enum(SECRET_OVERLAPS, { error: 'form' }).default('24').transform(Number),
});
type ActionForm = z.output<typeof actionSchema>;

interface Confirmed {
  readonly dependencies: ActionDependencies;
  readonly visit: MemberVisit;
  readonly view: MerchantView;
  readonly endpoint: WebhookEndpoint;
  readonly form: ActionForm;
}

interface ActionDefinition {
  readonly action: EndpointAction;
  readonly stepUp?: true;
  readonly perform: (confirmed: Confirmed) => Promise<EndpointResponse>;
}

/** A ping changes nothing. Every other action changes who receives the events of the merchant. */
const ACTIONS: readonly ActionDefinition[] = [
  { action: 'rotate', stepUp: true, perform: rotate },
  { action: 'ping', perform: ping },
  {
    action: 'disable',
    stepUp: true,
    perform: (confirmed) => change(confirmed, 'disable', 'disabled', disableEndpoint),
  },
  { action: 'enable', stepUp: true, perform: (confirmed) => change(confirmed, 'enable', 'enabled', enableEndpoint) },
  { action: 'delete', stepUp: true, perform: remove },
];

/** For each action a page with one button, and what the button requests. */
export const endpointActionPages = ACTIONS.flatMap(({ action, stepUp, perform }) => {
  const path = `/m/:code/developers/webhooks/:endpoint/${action}`;
  const proof = stepUp === undefined ? {} : { stepUp };
  return [
    memberPage(MANAGE, {
      method: 'get',
      path,
      ...proof,
      fields: NO_FIELDS,
      handler: async (dependencies: ActionDependencies, visit) =>
        confirmPage(merchantView(dependencies, visit), action, await findEndpointOfPath(dependencies, visit), 200),
    }),
    memberPage(MANAGE, {
      method: 'post',
      path,
      ...proof,
      fields: actionSchema,
      async handler(dependencies: ActionDependencies, visit, form) {
        const view = merchantView(dependencies, visit);
        const endpoint = await findEndpointOfPath(dependencies, visit);
        if (!form.ok) return confirmPage(view, action, endpoint, 422);
        if (rejectionOf(view, action, endpoint) !== null) return confirmPage(view, action, endpoint, 409);
        return perform({ dependencies, visit, view, endpoint, form: form.values });
      },
    }),
  ];
});

/** For the page and its form. A suspended merchant can take rights away. */
function rejectionOf(view: MerchantView, action: EndpointAction, { status }: WebhookEndpoint): string | null {
  const { rejections } = WEBHOOK_TEXTS[view.locale.language];
  if (action === 'disable' && status === 'disabled') return rejections.disabled;
  if (action === 'enable' && status === 'enabled') return rejections.enabled;
  return action === 'disable' || action === 'delete' ? null : merchantRejection(view);
}

interface Outcome {
  readonly ping?: PingReport;
  readonly rejection?: string;
}

function confirmPage(
  view: MerchantView,
  action: EndpointAction,
  endpoint: WebhookEndpoint,
  status: number,
  { ping: report, rejection = rejectionOf(view, action, endpoint) ?? undefined }: Outcome = {},
): EndpointResponse {
  const page = { view, endpoint, action, rejection: rejection ?? null, ping: report };
  return pageResponse(renderEndpointConfirmPage(page), status);
}

async function rotate({ dependencies, visit, view, endpoint, form }: Confirmed): Promise<EndpointResponse> {
  const { db, sealer } = dependencies;
  const { form_id: secretId, overlap } = form;
  const { merchantId } = visit.member;
  const detail = JSON.stringify({ overlap_hours: overlap });
  const action = { action: 'webhook.rotate_secret', target: endpoint.id, detail } as const;
  const shown = { view, endpointId: endpoint.id, duplicateOf: null };
  try {
    const { secret, oldSecretExpiresAt } = await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
      rotateSecret(db, sealer, endpoint.id, overlap * 3_600, { merchantId, secretId }),
    );
    return pageResponse(
      renderSecretPage({ ...shown, secret, oldSecret: overlap === 0 ? 'ended' : oldSecretExpiresAt }),
    );
  } catch (error) {
    if (!(error instanceof ConflictError) || error.reason !== 'secret_exists') throw error;
    return pageResponse(renderSecretPage({ ...shown, secret: null, oldSecret: null }));
  }
}

/** A worker sends the request, because this process reads no secret. The result is the response to the form. */
async function ping({ dependencies, visit, view, endpoint, form }: Confirmed): Promise<EndpointResponse> {
  const { db, workflows, log } = dependencies;
  const action = { action: 'webhook.ping', target: endpoint.id } as const;
  const input = { endpointId: endpoint.id, merchantId: visit.member.merchantId };
  try {
    const report = await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
      workflows.retries.ping(form.form_id, input),
    );
    return confirmPage(view, 'ping', await findEndpointOfPath(dependencies, visit), 200, { ping: report });
  } catch (error) {
    log.warn({ err: error, endpointId: endpoint.id }, 'ping without a result');
    const { rejections } = WEBHOOK_TEXTS[view.locale.language];
    return isTimeout(error)
      ? confirmPage(view, 'ping', endpoint, 200, { rejection: rejections.slowPing })
      : confirmPage(view, 'ping', endpoint, 503, { rejection: rejections.ping });
  }
}

async function change(
  { dependencies, visit, view, endpoint }: Confirmed,
  name: 'enable' | 'disable',
  done: string,
  perform: typeof disableEndpoint,
): Promise<EndpointResponse> {
  const action = { action: `webhook.${name}`, target: endpoint.id } as const;
  await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
    perform(dependencies.db, endpoint.id, visit.member.merchantId),
  );
  return redirectTo(`${view.paths.webhook(endpoint.id)}?done=${done}`);
}

async function remove({ dependencies, visit, view, endpoint }: Confirmed): Promise<EndpointResponse> {
  const action = { action: 'webhook.delete', target: endpoint.id } as const;
  await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
    deleteEndpoint(dependencies.db, endpoint.id, visit.member.merchantId),
  );
  return redirectTo(`${view.paths.webhooks}?done=deleted`);
}
