import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { refundLatePaymentManually } from '../../db/transitions/late-payment-transitions';
import { actorText } from '../../domain/actor';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { findException, type ExceptionRecord } from './exceptions';

const path = z.object({ exception: z.uuid() });
const target = ({ subject }: { readonly subject: { readonly id: string } }) => subject.id;

/** Closes an exception. It moves no money. */
export const resolveException = new Operation({
  name: 'exception.resolve',
  operator: 'resolve',
  path,
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, _scope, { exception }) => findException(db, exception),
  target,
  async perform({ needs: { db }, by, subject: { id }, note }) {
    const { rows } = await db.query(
      `update exceptions set resolved_at = now(), resolved_by = $2, note = $3
       where id = $1 and resolved_at is null returning id`,
      [id, actorText(by), note],
    );
    requireRow(rows, 'exception', id);
    return done(await findException(db, id));
  },
});

/** Closes the exception of a late payment that was refunded manually, and posts it out of suspense. */
export const resolveExceptionAsRefunded = new Operation({
  name: 'exception.resolve_as_refunded',
  operator: 'resolve',
  path,
  input: z.object({}),
  rejections: { other_kind: {}, refunded: {} },
  messages: {
    other_kind: () => 'Only a late payment can be resolved as refunded; this exception is of another kind.',
    refunded: () =>
      'Lunas has this late payment as refunded already, so the customer has the money twice if you sent it too.',
  },
  load: ({ db }: AuditDependencies, _scope, { exception }) => findWithMerchant(db, exception),
  target,
  allows: ({ kind }) => (kind === 'late_payment' ? null : { reason: 'other_kind' }),
  approval: {
    executes: 'database',
    amountRupiah: ({ subject }) => subject.amountRupiah,
    merchantId: ({ merchantId }) => merchantId,
  },
  async perform({ needs: { db }, by, subject: { id: exceptionId }, note = '' }) {
    const refund = { exceptionId, at: new Date(), operator: actorText(by), note };
    if (await refundLatePaymentManually(db, refund)) return done(await findException(db, exceptionId));
    await findOpenException(db, exceptionId);
    return rejected({ reason: 'refunded' });
  },
});

/** The merchant is null if Lunas has no such payment. The exception of an archived payment has only its reference. */
async function findWithMerchant(db: Queryable, id: string) {
  const exception = await findOpenException(db, id);
  const { rows } = await db.query<{ merchantId: string }>(
    `select merchant_id as "merchantId" from payments where id = $1
     union all select merchant_id from archived_payments where reference_id = $2`,
    [exception.paymentId, exception.referenceId],
  );
  return { ...exception, merchantId: rows[0]?.merchantId ?? null };
}

async function findOpenException(db: Queryable, id: string): Promise<ExceptionRecord> {
  const exception = await findException(db, id);
  if (exception.resolvedAt === null) return exception;
  throw new NotFoundError('exception', id);
}
