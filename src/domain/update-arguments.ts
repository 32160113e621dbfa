import { parseActor, type ActorIdentity, type StepActor } from './actor';
import type { Correlation } from './correlation';
import { PAYMENT_ACTIONS, type ActionDefinition, type PaymentAction, type RefundResolution } from './payment-actions';

/**
 * The arguments of the update of an action. The proof binds them to one update and to the version of the payment or the
 * payout.
 * Temporal performs an update id once in a run, and a version never returns. So a stranger who reads the arguments in a
 * history can send them again neither to the same run nor to a later one. The proof does not bind the correlation,
 * which decides nothing.
 */
export type UpdateArguments<Resolution extends string = RefundResolution> = readonly [
  actor: StepActor,
  resolution: Resolution | null,
  proof: string,
  correlation: Correlation | null,
];

/**
 * @param update the name of the update
 * @param version of the payment or the payout in its workflow
 */
export function updateProof(update: string, updateId: string, version: number): string {
  return `${update}/${updateId}/${version}`;
}

/** Whether Lunas sent the update, for whatever version. */
export function isProofOf(update: string, updateId: string, proof: unknown): boolean {
  return typeof proof === 'string' && proof.startsWith(`${update}/${updateId}/`);
}

type RequesterRole = ActionDefinition['requestedBy'][number];

/** The role in which an actor requests an action. */
const REQUESTS_AS = {
  operator: 'operator',
  os_user: 'operator',
  merchant_user: 'merchant',
  api_key: 'merchant',
} as const satisfies Record<Exclude<ActorIdentity['kind'], 'system'>, RequesterRole>;

const MAX_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['name', 300],
  ['note', 10_000],
]);

/** Why the actor cannot request the action of a payment; null if it can. */
export function actorRejection(action: PaymentAction, actor: unknown): string | null {
  const { requestedBy }: ActionDefinition = PAYMENT_ACTIONS[action];
  return requesterRejection(action, actor, (identity) => requestedBy.some((role) => role === requesterRole(identity)));
}

/**
 * Why the actor cannot request the action; null if it can. The actor came through Temporal, so nothing of it is taken
 * for granted: it has a name that may request the action, maybe a note, and no other field.
 */
export function requesterRejection(
  action: string,
  actor: unknown,
  isAllowedFor: (identity: ActorIdentity | undefined) => boolean,
): string | null {
  if (typeof actor !== 'object' || actor === null || !('name' in actor)) return 'The request does not name its actor.';
  const unexpected = Object.entries(actor).find(([field, value]) => !isAllowed(field, value));
  if (unexpected) return `The request has an unexpected value in "${unexpected[0]}" of its actor.`;
  return isAllowedFor(parseActor(String(actor.name))) ? null : `This actor cannot request "${action}".`;
}

/** The system requests nothing but what a merchant requested before. */
function requesterRole(actor: ActorIdentity | undefined): RequesterRole | null {
  if (actor === undefined) return null;
  if (actor.kind !== 'system') return REQUESTS_AS[actor.kind];
  return actor.name === 'merchant' ? 'merchant' : null;
}

function isAllowed(field: string, value: unknown): boolean {
  return typeof value === 'string' && value.length <= (MAX_LENGTHS.get(field) ?? -1);
}
