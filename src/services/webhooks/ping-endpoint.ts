import { z } from 'zod';
import { scopeOf } from '../../domain/actor';
import type { PingReport, WebhookPingInput } from '../../domain/ping-report';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, notKnown } from '../operations/rejections';
import { findEndpoint } from './webhook-endpoints';

/** Who sends the request: a worker, because the dashboard reads no secret, or the command itself. */
interface PingDependencies extends AuditDependencies {
  readonly workflows: {
    readonly retries: {
      /** @param pingId a repeat with the same one has the result of the first */
      ping(pingId: string, input: WebhookPingInput): Promise<PingReport>;
    };
  };
}

/** Sends a signed test request to an endpoint. It changes nothing but the health of an endpoint that accepts it. */
export const pingEndpoint = new Operation({
  name: 'webhook.ping',
  member: { area: 'developers', level: 'manage' },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: PingDependencies, scope, { endpoint }) => findEndpoint(db, scope, endpoint),
  target: ({ subject }) => subject.id,
  async perform({ needs: { db, workflows }, by, subject: { id, merchantId }, formId }) {
    try {
      const ping = await workflows.retries.ping(formId, { endpointId: id, merchantId });
      return done({ ping, endpoint: await findEndpoint(db, scopeOf(by), id) });
    } catch (error) {
      return notKnown(error);
    }
  },
});
