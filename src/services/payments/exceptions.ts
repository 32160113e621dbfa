import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import type { ActorText } from '../../domain/actor';
import type { ExceptionCause, ExceptionKind } from '../../domain/exception-kinds';

/** A case that no rule decides; open until an operator resolves it. */
export interface ExceptionRecord {
  readonly id: string;
  readonly kind: ExceptionKind;
  /** Null if no command repairs what is behind it. */
  readonly cause: ExceptionCause | null;
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

const EXCEPTION_COLUMNS = `id, kind, cause, provider_account_id as "providerAccountId", reference_id as "referenceId",
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

/** An exception, also a resolved one. @throws NotFoundError if there is none */
export async function findException(db: Queryable, id: string): Promise<ExceptionRecord> {
  const { rows } = await db.query<ExceptionRecord>(`select ${EXCEPTION_COLUMNS} from exceptions where id = $1`, [id]);
  return requireRow(rows, 'exception', id);
}
