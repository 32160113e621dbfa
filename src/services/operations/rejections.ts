import { z } from 'zod';
import { OPERATOR_SCOPES } from '../../domain/key-access';
import { MEMBER_ROLES } from '../../domain/member-roles';
import { DAY_LIMIT_TEXT } from '../audit/audit';

/** Why an operation can be rejected: reason → the data of its text. */
export type Reasons = Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>;

/** One of the reasons, with its data. */
export type Rejection<R extends Reasons, Reason extends keyof R & string = keyof R & string> = {
  [Each in Reason]: { readonly reason: Each } & { readonly [Key in keyof R[Each]]: z.output<R[Each][Key]> };
}[Reason];

/** The reasons that `run` finds by itself, for every operation. */
export const RUN_REASONS = {
  /** The operation is for operators only, or for members only. */
  actor: {},
  /** Only members with these roles may do it. */
  role: { roles: z.array(z.enum(MEMBER_ROLES)) },
  /** The operator's key has scopes, without this one. */
  scope: { scope: z.enum([...OPERATOR_SCOPES, 'all']) },
  /** The merchant can do nothing at present. */
  merchant_state: { state: z.enum(['pending', 'suspended']) },
  /** The person has to prove who they are first. */
  step_up: {},
  /** One operator has done it as often in 24 hours as a rule allows. */
  day_limit: {},
} as const satisfies Reasons;
export type RunRejection = Rejection<typeof RUN_REASONS>;

/** Whether `run` found the reason by itself. */
export function isRunRejection(rejection: { readonly reason: string }): rejection is RunRejection {
  return rejection.reason in RUN_REASONS;
}

/** Another process was asked for the act, and it is not known whether it was done. */
export interface Unknown {
  readonly outcome: 'unknown';
  readonly error: unknown;
}

/** What `perform` has done, or why it did nothing. */
export type Performed<Value, R extends Reasons> =
  | { readonly outcome: 'done'; readonly value: Value }
  | { readonly outcome: 'rejected'; readonly rejection: Rejection<R> }
  | Unknown;

/** The result of `run`. `isRepeat`: the same form was executed before, and nothing was done now. */
export type Result<Value, R extends Reasons> =
  | { readonly outcome: 'done'; readonly value: Value; readonly isRepeat: boolean }
  /** The message is for operators. */
  | { readonly outcome: 'rejected'; readonly rejection: Rejection<R> | RunRejection; readonly message: string }
  /** A second operator has to approve the request. */
  | { readonly outcome: 'waits'; readonly approvalId: number }
  | Unknown;

export function done<Value>(value: Value): { readonly outcome: 'done'; readonly value: Value } {
  return { outcome: 'done', value };
}

export function rejected<const Reason extends string, Data extends object>(
  rejection: { readonly reason: Reason } & Data,
): { readonly outcome: 'rejected'; readonly rejection: { readonly reason: Reason } & Data } {
  return { outcome: 'rejected', rejection };
}

export function notKnown(error: unknown): Unknown {
  return { outcome: 'unknown', error };
}

/** A text for each reason, in one language or for one door. A missing one does not compile. */
export type RejectionTexts<R extends Reasons> = {
  readonly [Reason in keyof R & string]: (rejection: Rejection<R, Reason>) => string;
};

export function rejectionText<R extends Reasons, Reason extends keyof R & string>(
  texts: RejectionTexts<R>,
  rejection: Rejection<R, Reason>,
): string {
  return texts[rejection.reason](rejection);
}

export const RUN_MESSAGES: RejectionTexts<typeof RUN_REASONS> = {
  actor: () => 'Another kind of person does this.',
  role: ({ roles }) => `Only these roles may do this: ${roles.join(', ')}.`,
  scope: ({ scope }) =>
    scope === 'all' ? 'Only a key without scopes does this.' : `The key does not have the scope "${scope}".`,
  merchant_state: ({ state }) => `The merchant is ${state}.`,
  step_up: () => 'The person has to prove who they are first.',
  day_limit: () => DAY_LIMIT_TEXT,
};
