import type { OperatorScope } from './key-access';
import type { MemberRole } from './member-roles';

/** The actors that are no person and no key. */
export const SYSTEM_NAMES = [
  'workflow',
  'worker',
  'provider',
  'reconciliation',
  'schedule', // the daily run of payouts
  'merchant', // whose key or user is not recorded
  'operator', // who is not proven: a signal, or a recovery
] as const;
type SystemName = (typeof SYSTEM_NAMES)[number];

interface NamedOperator {
  readonly kind: 'operator';
  readonly name: string;
}

/** An operator without a key or a login: the user of the machine who runs a command. */
interface OsUser {
  readonly kind: 'os_user';
  readonly name: string;
}

interface MerchantUser {
  readonly kind: 'merchant_user';
  readonly id: string;
}

interface MerchantKey {
  readonly kind: 'api_key';
  readonly id: string;
}

interface System {
  readonly kind: 'system';
  readonly name: SystemName;
}

/** Who acts, as far as rows of transitions and of the audit log name it. */
export type ActorIdentity = NamedOperator | OsUser | MerchantUser | MerchantKey | System;

/** The text of an actor in rows, workflows and log lines. */
export type ActorText = `${'operator' | 'cli' | 'user' | 'key'}:${string}` | SystemName;

/** The process through which a person or a key acts, or a function of the database; `via` in the audit log. */
export type Door = 'cli' | 'api' | 'dashboard' | 'console' | 'database';

interface Through<Doors extends Door> {
  readonly door: Doors;
}

/** An operator who acts now. */
export type OperatorActor = (
  (NamedOperator & Through<'cli' | 'api' | 'console'> & OperatorKey) | (OsUser & Through<'cli'>)
) & {
  /** The request of another operator that this one executes. */
  readonly approval?: ExecutedApproval;
};

/** The key that proves who the operator is. */
interface OperatorKey {
  readonly operatorId: string;
  /** Null: the key can do everything. */
  readonly scopes: readonly OperatorScope[] | null;
}

/** What two operators have agreed on, while it is executed. */
interface ExecutedApproval {
  readonly id: number;
  readonly requestedBy: string;
  readonly parameters: unknown;
  /** The version that the request replaces; null: it names none. */
  readonly expectedVersion: number | null;
}

/** The operator who approves the request of another one, and executes it. */
export type ApprovingOperator = OperatorActor & { readonly approval: ExecutedApproval };

/** Who acts now, and through which door; the system needs none. */
export type Actor = OperatorActor | (MerchantUser & Through<'dashboard'>) | (MerchantKey & Through<'api'>) | System;

/** A member of a merchant who acts now. */
export type MemberActor = MerchantUser &
  Through<'dashboard'> & {
    readonly merchantId: string;
    readonly role: MemberRole;
    /** `pending` and `suspended`: the merchant can do nothing but take rights away. */
    readonly merchantState: 'approved' | 'pending' | 'suspended';
    /** The address of the browser. */
    readonly address: string;
    /** Whether they have proved their identity shortly before. */
    readonly hasProved: boolean;
  };

/** Who performs an operation. */
export type Person = OperatorActor | MemberActor;

/** The objects that a person reaches: those of one merchant, or all. */
export type Scope = { readonly merchantId: string } | 'all';

/** The operator who performs an operation that no member may perform. */
export function requireOperator(by: Person): OperatorActor {
  if (by.kind === 'merchant_user') throw new Error(`Member ${by.id} performs an operation of operators`);
  return by;
}

/** Who asked for what a person does: of an approved request, the operator who made it. */
export function requesterOf(by: Person): ActorIdentity {
  if (by.kind === 'merchant_user' || by.approval === undefined) return by;
  return { kind: 'operator', name: by.approval.requestedBy };
}

export function scopeOf(by: Person): Scope {
  return by.kind === 'merchant_user' ? { merchantId: by.merchantId } : 'all';
}

/** The actor of a step of a workflow, and why it acts. */
export interface StepActor {
  readonly name: ActorText;
  readonly note?: string;
}

export function toStepActor(actor: Actor, note?: string): StepActor {
  return { name: actorText(actor), ...(note !== undefined && { note }) };
}

export function actorText(actor: ActorIdentity): ActorText {
  switch (actor.kind) {
    case 'operator':
      return `operator:${actor.name}`;
    case 'os_user':
      return `cli:${actor.name}`;
    case 'merchant_user':
      return `user:${actor.id}`;
    case 'api_key':
      return `key:${actor.id}`;
    case 'system':
      return actor.name;
  }
}

/** The actor that a stored text names; undefined if it names none. */
export function parseActor(text: string): ActorIdentity | undefined {
  const systemName = SYSTEM_NAMES.find((name) => name === text);
  if (systemName !== undefined) return { kind: 'system', name: systemName };
  const prefixLength = text.indexOf(':') + 1;
  const rest = text.slice(prefixLength);
  if (rest === '') return undefined;
  switch (text.slice(0, prefixLength)) {
    case 'operator:':
      return { kind: 'operator', name: rest };
    case 'cli:':
      return { kind: 'os_user', name: rest };
    case 'user:':
      return { kind: 'merchant_user', id: rest };
    case 'key:':
      return { kind: 'api_key', id: rest };
    default:
      return undefined;
  }
}

/** The operator's row; undefined for a user of the machine. */
export function operatorIdOf(actor: OperatorActor): string | undefined {
  return actor.kind === 'operator' ? actor.operatorId : undefined;
}
