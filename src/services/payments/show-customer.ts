import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { PaymentRow } from '../../db/payments/payment-row';
import type { Scope } from '../../domain/actor';
import { findFirstSuccess, type AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import type { ActOn } from '../operations/operation-spec';
import { done } from '../operations/rejections';
import { paymentPath } from './actions/operator-action';
import { readCustomer } from './customers';
import { eraseCustomer } from './erase-customer';
import { findPayment } from './find-payment';

interface ShowDependencies extends AuditDependencies {
  readonly sealer: Sealer;
}

const ofPayment = {
  path: paymentPath,
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: ShowDependencies, scope: Scope, { payment }: z.output<typeof paymentPath>) =>
    findPayment(db, scope, payment),
  target: ({ subject }: ActOn<PaymentRow, unknown>) => subject.id,
} as const;

/** Reads what the merchant sent about the customer of a payment. It changes nothing; the audit log has who read it. */
export const showCustomer = new Operation({
  name: 'customer.show',
  operator: 'all',
  ...ofPayment,
  async perform({ needs: { db, sealer }, subject: { id: paymentId, referenceId } }) {
    const details = await readCustomer(db, sealer, paymentId);
    return done({ paymentId, referenceId, ...details, erasedAt: await findFirstSuccess(db, eraseCustomer, paymentId) });
  },
});

/** A member reads what their merchant sent about a customer. */
export const showOwnCustomer = new Operation({
  name: 'customer.read',
  member: { area: 'customers', level: 'view', stepUp: true, whileSuspended: true },
  ...ofPayment,
  perform: async ({ needs: { db, sealer }, subject: { id, referenceId } }) =>
    done({ referenceId, ...(await readCustomer(db, sealer, id)) }),
});
