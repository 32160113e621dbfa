import { z } from 'zod';
import type { Environment } from '../../../config';
import { requireMerchant } from '../../../db/merchants/require-merchant';
import { MERCHANT_SCOPES } from '../../../domain/key-access';
import { NotFoundError } from '../../../errors';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { done, rejected } from '../../operations/rejections';
import { findIssuedKey, insertKey, keyName, keyNetworks } from './api-key';
import { foreignScopes, foreignScopesMessage, foreignScopesReason } from './foreign-scopes';

/** What an operation that issues a key needs: the environment is in the secret. */
export interface IssueDependencies extends AuditDependencies {
  readonly environment: Environment;
}

/** Issues a key. Its id is that of the form, so a form that is sent twice issues one key. */
export const createKey = new Operation({
  name: 'key.create',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ merchant: z.uuid() }),
  input: z.object({
    name: keyName.optional(),
    /** Absent: all, also those that are added later. */
    scopes: z.array(z.enum(MERCHANT_SCOPES)).min(1).optional(),
    allowedNetworks: keyNetworks,
    /** Absent: never. */
    expiresAt: z.date().optional(),
  }),
  rejections: {
    ...foreignScopesReason,
    /** The id of the form is that of another object. */
    form_reused: {},
  },
  messages: { ...foreignScopesMessage, form_reused: () => 'The id of the request is that of another key.' },
  async load({ db }: IssueDependencies, scope, { merchant }) {
    if (scope !== 'all' && scope.merchantId !== merchant) throw new NotFoundError('merchant', merchant);
    await requireMerchant(db, merchant);
    return { merchantId: merchant };
  },
  target: ({ formId }) => formId,
  earlier: ({ needs: { db }, subject, formId }) => findIssuedKey(db, subject, formId),
  async perform({ needs: { db, environment }, by, subject: { merchantId }, input, formId }) {
    const foreign = foreignScopes(by, input.scopes ?? null);
    if (foreign !== null) return rejected(foreign);
    const key = await insertKey(db, { id: formId, merchantId, environment, createdBy: by, ...input });
    // The same form was sent twice within a moment.
    const issued = key ?? (await findIssuedKey(db, { merchantId }, formId));
    return issued === null ? rejected({ reason: 'form_reused' }) : done(issued);
  },
});
