import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { refundLatePaymentManually } from '../../db/transitions/late-payment-transitions';
import { actorText, type ActorText, type OperatorActor } from '../../domain/actor';
import { DeclaredAction } from '../../domain/declared-action';
import type { ExceptionKind } from '../../domain/exception-kinds';
import { ConflictError } from '../../errors';
import { withAudit, type AuditDependencies } from '../audit/audit';
import { requireApproval } from '../audit/request-approval';

/** A case that no rule decides; open until an operator resolves it. */
export interface ExceptionRecord {
  readonly id: string;
  readonly kind: ExceptionKind;
  readonly providerAccountId: string | null;
  readonly referenceId: string;
  /** Null if Lunas has no such payment. */
  readonly paymentId: string | null;
  readonly amountRupiah: number | null;
  readonly detail: string;
  readonly openedAt: Date;
  readonly resolvedAt: Date | null;
  readonly resolvedBy: ActorText | null;
  readonly note: string | null;
}

const EXCEPTION_COLUMNS = `id, kind, provider_account_id as "providerAccountId", reference_id as "referenceId",
  payment_id as "paymentId", amount_rupiah as "amountRupiah", detail, opened_at as "openedAt",
  resolved_at as "resolvedAt", resolved_by as "resolvedBy", note`;

/** Newest first. */
export async function listExceptions(
  db: Queryable,
  { onlyOpen, limit }: { readonly onlyOpen: boolean; readonly limit: number },
): Promise<ExceptionRecord[]> {
  const { rows } = await db.query<ExceptionRecord>(
    `select ${EXCEPTION_COLUMNS} from exceptions ${onlyOpen ? 'where resolved_at is null' : ''}
     order by opened_at desc, id limit $1`,
    [limit],
  );
  return rows;
}

/** All exceptions of one payment, resolved ones included, oldest first. */
export async function listExceptionsOf(db: Queryable, referenceId: string): Promise<ExceptionRecord[]> {
  const { rows } = await db.query<ExceptionRecord>(
    `select ${EXCEPTION_COLUMNS} from exceptions where reference_id = $1 order by opened_at, id`,
    [referenceId],
  );
  return rows;
}

export interface ExceptionResolution {
  readonly note: string;
  /** The late payment was refunded manually: post it out of suspense. */
  readonly isRefunded: boolean;
}

export const RESOLVE_EXCEPTION = new DeclaredAction('exception.resolve');

/**
 * Closes an exception.
 * @throws NotFoundError if there is no such open exception
 * @throws ConflictError if `isRefunded` is set and the exception is not about a late payment, or if a second operator
 * has to approve the refund
 */
export async function resolveException(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  exceptionId: string,
  { note, isRefunded }: ExceptionResolution,
): Promise<ExceptionRecord> {
  if (isRefunded) await requireRefundApproval(dependencies, actor, exceptionId, note);
  return withAudit(dependencies, actor, { action: RESOLVE_EXCEPTION, target: exceptionId, note }, async () => {
    if (isRefunded) return resolveAsRefunded(dependencies.db, actor, exceptionId, note);
    const { rows } = await dependencies.db.query<ExceptionRecord>(
      `update exceptions set resolved_at = now(), resolved_by = $2, note = $3
       where id = $1 and resolved_at is null returning ${EXCEPTION_COLUMNS}`,
      [exceptionId, actorText(actor), note],
    );
    return requireRow(rows, 'exception', exceptionId);
  });
}

/** An exception that is closed needs no approval: its resolution is rejected. */
async function requireRefundApproval(
  dependencies: AuditDependencies,
  actor: OperatorActor,
  exceptionId: string,
  note: string,
): Promise<void> {
  const { rows } = await dependencies.db.query<{ amountRupiah: number | null }>(
    'select amount_rupiah as "amountRupiah" from exceptions where id = $1 and resolved_at is null',
    [exceptionId],
  );
  if (!rows[0]) return;
  const request = {
    action: 'exception.resolve_as_refunded',
    target: exceptionId,
    parameters: { exceptionId },
  } as const;
  await requireApproval(dependencies, actor, { ...request, amountRupiah: rows[0].amountRupiah }, note);
}

async function resolveAsRefunded(
  db: Queryable,
  actor: OperatorActor,
  exceptionId: string,
  note: string,
): Promise<ExceptionRecord> {
  const operator = actorText(actor);
  const isResolved = await refundLatePaymentManually(db, { exceptionId, at: new Date(), operator, note });
  const { rows } = await db.query<ExceptionRecord>(
    `select ${EXCEPTION_COLUMNS} from exceptions where id = $1 and ($2 or resolved_at is null)`,
    [exceptionId, isResolved],
  );
  const exception = requireRow(rows, 'exception', exceptionId);
  if (isResolved) return exception;
  throw new ConflictError(
    'not_allowed',
    exception.kind === 'late_payment'
      ? 'Lunas has this late payment as refunded already, so the customer has the money twice if you sent it too.'
      : 'Only a late payment can be resolved as refunded; this exception is of another kind.',
  );
}
