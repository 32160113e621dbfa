import { randomUUID } from 'node:crypto';
import type { Sealer } from '../../src/crypto/sealing';
import type { Queryable } from '../../src/db/connection/pool';
import type { Person } from '../../src/domain/actor';
import type { WebhookEvent } from '../../src/domain/events';
import type { WebhookExpansion } from '../../src/domain/expansions';
import type { Reasons, Result } from '../../src/services/operations/rejections';
import { deleteEndpoint } from '../../src/services/webhooks/delete-endpoint';
import { disableEndpoint } from '../../src/services/webhooks/disable-endpoint';
import { enableEndpoint } from '../../src/services/webhooks/enable-endpoint';
import { redeliver, requireRedelivered } from '../../src/services/webhooks/redeliver';
import { rotateSecret } from '../../src/services/webhooks/rotate-secret';
import { setEndpoint } from '../../src/services/webhooks/set-endpoint';
import { insertEndpoint, type NewEndpoint } from '../../src/services/webhooks/webhook-endpoints';
import { osUser } from './actors';

/** A new endpoint with its secret. Its URL is not checked. */
export async function registerEndpoint(db: Queryable, sealer: Sealer, endpoint: NewEndpoint) {
  const registered = await insertEndpoint(db, sealer, endpoint);
  if (registered === null) throw new Error(`There is an endpoint ${endpoint.id} already`);
  return registered;
}

/** What was done. @throws Error with the sentence of the rejection */
export function valueOf<Value, R extends Reasons>(result: Result<Value, R>): Value {
  if (result.outcome === 'done') return result.value;
  throw new Error(result.outcome === 'rejected' ? result.message : result.outcome);
}

const ROOT = osUser('root');
const on = (endpoint: string) => ({ path: { endpoint }, input: {}, formId: randomUUID() });

/* Each as an operator does it, or as another person. */

export const disable = async (db: Queryable, endpointId: string, by: Person = ROOT) =>
  valueOf(await disableEndpoint.run({ db }, by, on(endpointId)));

export const enable = async (db: Queryable, endpointId: string, by: Person = ROOT) =>
  valueOf(await enableEndpoint.run({ db }, by, on(endpointId)));

export const remove = async (db: Queryable, endpointId: string, by: Person = ROOT) =>
  valueOf(await deleteEndpoint.run({ db }, by, on(endpointId)));

interface Changes {
  readonly url?: string;
  readonly events?: WebhookEvent[];
  readonly expand?: WebhookExpansion[];
}

export const change = async (db: Queryable, endpointId: string, input: Changes, by: Person = ROOT) =>
  valueOf(await setEndpoint.run({ db, receiverRules: { environment: 'sandbox' } }, by, { ...on(endpointId), input }));

interface Rotation {
  readonly overlapSeconds: number;
  readonly formId?: string;
}

export async function rotate(
  { db, sealer }: { readonly db: Queryable; readonly sealer: Sealer },
  endpointId: string,
  { overlapSeconds, formId = randomUUID() }: Rotation,
  by: Person = ROOT,
) {
  const call = { path: { endpoint: endpointId }, input: { overlapSeconds }, formId };
  return valueOf(await rotateSecret.run({ db, loadSealer: () => Promise.resolve(sealer) }, by, call)).endpoint;
}

interface DeadRange {
  readonly since: Date;
  readonly until: Date;
  readonly merchant?: string;
}

/** @throws ConflictError as commands have it */
export const redeliverAs = async (db: Queryable, deliveries: string[] | DeadRange, by: Person = ROOT) =>
  requireRedelivered(await redeliver.run({ db }, by, { path: { deliveries }, input: {}, formId: randomUUID() }));
