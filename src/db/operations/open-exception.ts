import type { ExceptionCause, ExceptionKind } from '../../domain/exception-kinds';
import type { Queryable } from '../connection/pool';

/** A case that an operator resolves. */
export interface NewException {
  readonly kind: ExceptionKind;
  /** If a command repairs what is behind it. */
  readonly cause?: ExceptionCause | null;
  readonly referenceId: string;
  readonly providerAccountId?: string | null;
  readonly paymentId?: string | null;
  readonly amountRupiah?: number | null;
  /** What happened, for an operator. */
  readonly detail: string;
}

/** For a fact that does not change: if its exception was resolved, the same fact does not open another one. */
export async function openExceptionOnce(db: Queryable, exception: NewException): Promise<void> {
  const { rowCount } = await db.query({
    name: 'find_same_exception',
    text: `select from exceptions
      where kind = $1 and reference_id = $2 and detail = $3 and provider_account_id is not distinct from $4`,
    values: [exception.kind, exception.referenceId, exception.detail, exception.providerAccountId ?? null],
  });
  if (rowCount === 0) await openException(db, exception);
}

/** Opens an exception, unless one of this kind is open for the order of the account. That one does not change. */
export async function openException(db: Queryable, exception: NewException): Promise<void> {
  const { kind, cause, referenceId, providerAccountId, paymentId, amountRupiah, detail } = exception;
  await db.query({
    name: 'open_exception',
    text: `insert into exceptions (kind, reference_id, provider_account_id, payment_id, amount_rupiah, detail, cause)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [kind, referenceId, providerAccountId, paymentId, amountRupiah, detail, cause],
  });
}
