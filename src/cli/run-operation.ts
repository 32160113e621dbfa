import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { UserError } from '../errors';
import type { AuditDependencies } from '../services/audit/audit';
import type { Call, Operation } from '../services/operations/operation';
import {
  isRunRejection,
  rejectionText,
  type Performed,
  type Reasons,
  type RejectionTexts,
} from '../services/operations/rejections';
import type { CommandAudit } from './operator-identity';

type CommandCall<Path extends z.ZodObject, Input extends z.ZodObject> = Pick<Call<Path, Input>, 'path' | 'input'>;

/**
 * Runs an operation for the operator of a command.
 * @throws UserError if the input breaks a rule of the operation
 */
export async function runOperation<
  Name extends string,
  Path extends z.ZodObject,
  Input extends z.ZodObject,
  R extends Reasons,
  Needs extends AuditDependencies,
  Subject,
  Value,
>(
  { actor, note }: Pick<CommandAudit, 'actor' | 'note'>,
  operation: Operation<Name, Path, Input, R, Needs, Subject, Value>,
  needs: Needs,
  call: CommandCall<Path, Input>,
): Promise<Performed<Value, R>> {
  try {
    const result = await operation.run(needs, actor, { ...call, formId: uuidv7(), note });
    if (result.outcome === 'done') return result;
    const { rejection } = result;
    if (isRunRejection(rejection)) throw new Error(`An operator cannot perform ${operation.name}: ${rejection.reason}`);
    return { outcome: 'rejected', rejection };
  } catch (error) {
    throw error instanceof z.ZodError ? new UserError(z.prettifyError(error)) : error;
  }
}

/** What was done. @throws UserError with the text of the rejection */
export function requireDone<Value, R extends Reasons>(performed: Performed<Value, R>, texts: RejectionTexts<R>): Value {
  if (performed.outcome === 'done') return performed.value;
  throw new UserError(rejectionText(texts, performed.rejection));
}
