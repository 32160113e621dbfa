import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { UserError } from '../errors';
import type { AuditDependencies } from '../services/audit/audit';
import type { Operation } from '../services/operations/operation';
import type { Call } from '../services/operations/operation-spec';
import type { Reasons, Result } from '../services/operations/rejections';
import type { CommandAudit } from './operator-identity';

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
  call: Pick<Call<Path, Input>, 'path' | 'input'>,
): Promise<Result<Value, R>> {
  try {
    return await operation.run(needs, actor, { ...call, formId: uuidv7(), note });
  } catch (error) {
    throw error instanceof z.ZodError ? new UserError(z.prettifyError(error)) : error;
  }
}
