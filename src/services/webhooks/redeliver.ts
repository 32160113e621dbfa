import { z } from 'zod';
import { countDeadDeliveries } from '../../db/webhooks/count-dead-deliveries';
import { ConflictError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, type Rejection, type Result } from '../operations/rejections';
import {
  findNamedDeliveries,
  redeliverNamed,
  redeliverRange,
  redeliveryRejection,
  type NamedDelivery,
  type Redelivery,
  type RedeliveryRange,
} from './webhook-redelivery';

/** A member redelivers so many of a range in one step: about 30,000 buffers. */
export const MAX_REDELIVERED = 1_000;

const range = z.object({
  /** The events' timestamps: not before `since`, before `until`. */
  since: z.date(),
  until: z.date(),
  /** Absent: of every merchant. */
  merchant: z.uuid().optional(),
});

const reasons = {
  pending: { delivery: z.uuid() },
  endpoint_deleted: { delivery: z.uuid() },
  endpoint_disabled: { delivery: z.uuid(), endpoint: z.uuid() },
  /** Nothing in the range is dead. */
  none_dead: {},
} as const;

type Subject =
  | { readonly kind: 'named'; readonly deliveries: readonly NamedDelivery[] }
  | {
      readonly kind: 'range';
      readonly range: RedeliveryRange;
      /** The dead ones of a member, at most one more than they redeliver in one step. Null: an operator counts none. */
      readonly count: number | null;
    };

/** Starts a new cycle of attempts: for all deliveries that are named or for none, or for the dead ones of a range. */
export const redeliver = new Operation({
  name: 'webhook.redeliver',
  member: { area: 'developers', level: 'manage' },
  operator: 'redeliver',
  path: z.object({ deliveries: z.union([z.array(z.uuid()).min(1), range]) }),
  input: z.object({}),
  rejections: reasons,
  messages: {
    pending: ({ delivery }) => `The delivery ${delivery} is pending already.`,
    endpoint_deleted: ({ delivery }) => `The endpoint of the delivery ${delivery} is deleted.`,
    endpoint_disabled: ({ delivery }) => `The endpoint of the delivery ${delivery} is disabled.`,
    none_dead: () => 'No delivery of the range is dead.',
  },
  async load({ db }: AuditDependencies, scope, { deliveries: named }): Promise<Subject> {
    if (Array.isArray(named)) return { kind: 'named', deliveries: await findNamedDeliveries(db, scope, named) };
    const { since, until, merchant: merchantId } = named;
    if (scope === 'all') return { kind: 'range', range: { since, until, merchantId }, count: null };
    const range = { since, until, merchantId: scope.merchantId, limit: MAX_REDELIVERED };
    return { kind: 'range', range, count: await countDeadDeliveries(db, range, MAX_REDELIVERED + 1) };
  },
  target: ({ subject }) => (subject.kind === 'named' ? idsOf(subject.deliveries).join(' ') : textOf(subject.range)),
  allows(subject) {
    if (subject.kind === 'range') return subject.count === 0 ? { reason: 'none_dead' } : null;
    return subject.deliveries.map(rejectionOf).find((rejection) => rejection !== null) ?? null;
  },
  async perform({ needs: { db }, subject }) {
    if (subject.kind === 'range') return done(await redeliverRange(db, subject.range));
    return done(await redeliverNamed(db, idsOf(subject.deliveries)));
  },
});

function idsOf(deliveries: readonly NamedDelivery[]): string[] {
  return deliveries.map(({ id }) => id);
}

/** The range in the audit log. */
function textOf({ since, until, merchantId = 'all' }: RedeliveryRange): string {
  return `${merchantId} ${since.toISOString()}/${until.toISOString()}`;
}

function rejectionOf(named: NamedDelivery): Rejection<typeof reasons> | null {
  const { id: delivery, endpointId: endpoint } = named;
  const reason = redeliveryRejection(named);
  if (reason === null) return null;
  return reason === 'endpoint_disabled' ? { reason, delivery, endpoint } : { reason, delivery };
}

/**
 * What was redelivered, for commands and for the operator API.
 * @throws ConflictError with the sentence of the rejection
 */
export function requireRedelivered(result: Result<Redelivery, typeof reasons>): Redelivery {
  if (result.outcome === 'done') return result.value;
  if (result.outcome !== 'rejected') throw new Error(`The outcome of a redelivery is ${result.outcome}`);
  const { rejection, message } = result;
  if (rejection.reason === 'endpoint_disabled') {
    throw new ConflictError(rejection.reason, message, { endpointId: rejection.endpoint });
  }
  throw new ConflictError(rejection.reason === 'endpoint_deleted' ? rejection.reason : 'not_allowed', message);
}
