import { randomUUID } from 'node:crypto';
import type { OperatorActor } from '../../src/domain/actor';
import type { AuditDependencies } from '../../src/services/audit/audit';
import type { Reasons } from '../../src/services/operations/rejections';
import { requireDone } from '../../src/services/operations/require-done';
import type { ExceptionRecord } from '../../src/services/payments/exceptions';
import { resolveException, resolveExceptionAsRefunded } from '../../src/services/payments/resolve-exception';

interface Resolution {
  readonly note: string;
  readonly isRefunded: boolean;
}

/** Resolves an exception as an operator. @throws as the command */
export async function resolveByOperator(
  { db, log }: AuditDependencies,
  actor: OperatorActor,
  exception: string,
  { note, isRefunded }: Resolution,
): Promise<ExceptionRecord> {
  const operation = isRefunded ? resolveExceptionAsRefunded : resolveException;
  const call = { path: { exception }, input: {}, formId: randomUUID(), note };
  return requireDone<ExceptionRecord, Reasons>(await operation.run({ db, log }, actor, call));
}
