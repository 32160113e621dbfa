import type { Correlation } from './correlation';
import { type ActionDefinition, PAYMENT_ACTIONS, type PaymentAction, type RefundResolution } from './payment-actions';
import type { Actor } from './workflow-step';

/**
 * The arguments of the update of a payment action. The proof binds them to one update: Temporal performs an update id
 * once in a run, so a stranger who reads the arguments in a history cannot send them again. The proof does not bind the
 * correlation, which decides nothing.
 */
export type UpdateArguments = readonly [
  actor: Actor,
  resolution: RefundResolution | null,
  proof: string,
  correlation?: Correlation,
];

/** @param update the name of the update */
export function updateProof(update: string, updateId: string): string {
  return `${update}/${updateId}`;
}

/** The names of those who may request an action. */
const ACTOR_NAMES = {
  merchant: /^(merchant$|(merchant|key):.)/,
  operator: /^(operator|cli):./,
} as const;

const MAX_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['name', 300],
  ['note', 10_000],
]);

/**
 * Why the actor cannot request the action; null if it can. The actor came through Temporal, so nothing of it is taken
 * for granted: it has a name that may request the action, maybe a note, and no other field.
 */
export function actorRejection(action: PaymentAction, actor: unknown): string | null {
  if (typeof actor !== 'object' || actor === null || !('name' in actor)) return 'The request does not name its actor.';
  const unexpected = Object.entries(actor).find(([field, value]) => !isAllowed(field, value));
  if (unexpected) return `The request has an unexpected value in "${unexpected[0]}" of its actor.`;
  const { requestedBy }: ActionDefinition = PAYMENT_ACTIONS[action];
  const isAllowedActor = requestedBy.some((role) => ACTOR_NAMES[role].test(String(actor.name)));
  return isAllowedActor ? null : `This actor cannot request "${action}".`;
}

function isAllowed(field: string, value: unknown): boolean {
  return typeof value === 'string' && value.length <= (MAX_LENGTHS.get(field) ?? -1);
}
