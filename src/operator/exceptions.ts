import { UserError } from '../config';
import type { Queryable } from '../db/pool';
import { refundLatePaymentManually } from '../db/transitions/late-payment';
import type { ExceptionKind } from '../domain/exceptions';
import { type Actor, audited } from './audit';
import { requireRow } from './require-row';

/** A case that no rule decides; open until somebody resolves it. */
export interface ExceptionCase {
  readonly id: string;
  readonly kind: ExceptionKind;
  readonly providerAccountId: string | null;
  readonly referenceId: string;
  /** Null where we know no such payment. */
  readonly paymentId: string | null;
  readonly amountRupiah: number | null;
  readonly detail: string;
  readonly openedAt: Date;
  readonly resolvedAt: Date | null;
  readonly resolvedBy: string | null;
  readonly note: string | null;
}

const EXCEPTION_COLUMNS = `id, kind, provider_account_id as "providerAccountId", reference_id as "referenceId",
  payment_id as "paymentId", amount_rupiah as "amountRupiah", detail, opened_at as "openedAt",
  resolved_at as "resolvedAt", resolved_by as "resolvedBy", note`;

/** Newest first. */
export async function listExceptions(
  db: Queryable,
  { onlyOpen, limit }: { readonly onlyOpen: boolean; readonly limit: number },
): Promise<ExceptionCase[]> {
  const { rows } = await db.query<ExceptionCase>(
    `select ${EXCEPTION_COLUMNS} from exceptions ${onlyOpen ? 'where resolved_at is null' : ''}
     order by opened_at desc, id limit $1`,
    [limit],
  );
  return rows;
}

/** All that there were of one payment, also of money that came under its reference, oldest first. */
export async function listExceptionsOf(db: Queryable, referenceId: string): Promise<ExceptionCase[]> {
  const { rows } = await db.query<ExceptionCase>(
    `select ${EXCEPTION_COLUMNS} from exceptions where reference_id = $1 order by opened_at, id`,
    [referenceId],
  );
  return rows;
}

/** What was done about a case. */
export interface Resolution {
  readonly note: string;
  /** Late money has gone back to the customer by hand: it is booked out of suspense. */
  readonly isRefunded: boolean;
}

/**
 * Closes a case; what was done about it is in the note.
 * @throws NotFoundError when there is no such case, or it was resolved before
 * @throws UserError when it is said to be refunded, and is not about late money
 */
export async function resolveException(
  db: Queryable,
  by: Actor,
  exceptionId: string,
  { note, isRefunded }: Resolution,
): Promise<ExceptionCase> {
  return audited(db, by, { action: 'exception.resolve', target: exceptionId, note }, async () => {
    if (isRefunded) await bookRefund(db, exceptionId);
    const { rows } = await db.query<ExceptionCase>(
      `update exceptions set resolved_at = now(), resolved_by = $2, note = $3
       where id = $1 and resolved_at is null returning ${EXCEPTION_COLUMNS}`,
      [exceptionId, by.name, note],
    );
    return requireRow(rows, noOpenException(exceptionId));
  });
}

async function bookRefund(db: Queryable, exceptionId: string): Promise<void> {
  const { rows } = await db.query<ExceptionCase>(
    `select ${EXCEPTION_COLUMNS} from exceptions where id = $1 and resolved_at is null`,
    [exceptionId],
  );
  const { kind, paymentId } = requireRow(rows, noOpenException(exceptionId));
  if (kind !== 'late_payment' || paymentId === null) {
    throw new UserError('Only late money can be resolved as refunded; this case is about something else.');
  }
  await refundLatePaymentManually(db, paymentId, new Date());
}

function noOpenException(exceptionId: string): string {
  return `There is no open exception ${exceptionId}; lunas exceptions list shows them.`;
}
