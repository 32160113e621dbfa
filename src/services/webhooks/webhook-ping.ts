import { DeclaredAction } from '../../domain/declared-action';
import { sendPing, type Ping, type PingDependencies } from '../../webhooks/send-ping';

export const PING_ENDPOINT = new DeclaredAction('webhook.ping');

/**
 * Pings an endpoint for an operator, from this process. The dashboard requests it from the workflow `webhookPing`.
 * @throws NotFoundError if there is no such endpoint
 */
export function pingEndpoint(dependencies: PingDependencies, endpointId: string): Promise<Ping> {
  return sendPing(dependencies, endpointId);
}
