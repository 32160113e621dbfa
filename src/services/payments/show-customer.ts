import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import { findFirstSuccess, type AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { paymentPath } from './actions/operator-action';
import { readCustomer } from './customers';
import { eraseCustomer } from './erase-customer';
import { findPayment } from './find-payment';

interface ShowDependencies extends AuditDependencies {
  readonly sealer: Sealer;
}

/** Reads what the merchant sent about the customer of a payment. It changes nothing; the audit log has who read it. */
export const showCustomer = new Operation({
  name: 'customer.show',
  operator: 'all',
  path: paymentPath,
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: ShowDependencies, _scope, { payment }) => findPayment(db, payment),
  target: ({ subject }) => subject.id,
  async perform({ needs: { db, sealer }, subject: { id: paymentId, referenceId } }) {
    const details = await readCustomer(db, sealer, paymentId);
    return done({ paymentId, referenceId, ...details, erasedAt: await findFirstSuccess(db, eraseCustomer, paymentId) });
  },
});
