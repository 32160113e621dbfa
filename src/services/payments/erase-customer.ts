import { z } from 'zod';
import { eraseDetails } from '../../db/payments/payment-details';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { paymentPath } from './actions/operator-action';
import { findPayment } from './find-payment';

/** Deletes a payment's customer and metadata permanently; the payment and its ledger stay. Repeatable. */
export const eraseCustomer = new Operation({
  name: 'customer.erase',
  operator: 'all',
  path: paymentPath,
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, _scope, { payment }) => findPayment(db, 'all', payment),
  target: ({ subject }) => subject.id,
  async perform({ needs: { db }, subject: { id: paymentId, referenceId } }) {
    await eraseDetails(db, paymentId);
    return done({ paymentId, referenceId });
  },
});
