import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Environment } from '../../../config';
import { createSecretKey } from '../../../crypto/secret-key';
import { MERCHANT_SCOPES } from '../../../domain/key-access';
import type { AuditDependencies } from '../../audit/audit';
import { Operation } from '../../operations/operation';
import { done, rejected } from '../../operations/rejections';
import { loadManagedMerchant } from '../managed-merchant';
import { findIssuedKey, insertKey, keyName, keyNetworks, storeKey } from './api-key';
import { foreignScopes, foreignScopesMessage, foreignScopesReason } from './foreign-scopes';

/** What an operation that issues a key needs: the environment is in the secret. */
export interface IssueDependencies extends AuditDependencies {
  readonly environment: Environment;
}

/** A key that an operator passes on. A request has only its hash, which the approval compares. */
const passedOn = z.object({
  id: z.uuid(),
  secretSha256: z.string().regex(/^[\da-f]{64}$/),
  prefix: z.string(),
  lastFour: z.string().length(4),
});

/** A new key of a command, which alone has the secret. */
export function keyToPassOn(environment: Environment, cell: string) {
  const { secret, secretSha256, ...parts } = createSecretKey(environment, cell);
  return { secret, passedOn: { id: uuidv7(), secretSha256: secretSha256.toString('hex'), ...parts } };
}

/**
 * Issues a key. Its id is that of the form, so a form that is sent twice issues one key. With a key of a merchant who
 * takes payments one could refund them: if the merchant has members, two operators decide, as it is their own affair.
 */
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
    expiresAt: z.coerce.date().optional(),
    /** Absent: the operation makes the secret. */
    passedOn: passedOn.optional(),
  }),
  rejections: {
    ...foreignScopesReason,
    /** The id of the form is that of another object. */
    form_reused: {},
  },
  messages: { ...foreignScopesMessage, form_reused: () => 'The id of the request is that of another key.' },
  load: ({ db }: IssueDependencies, scope, { merchant }) => loadManagedMerchant(db, scope, merchant),
  target: ({ input, formId }) => input.passedOn?.id ?? formId,
  approval: {
    executes: 'database',
    isExempt: ({ hasMember }) => !hasMember,
    target: ({ subject }) => subject.merchantId,
  },
  earlier: ({ needs: { db }, subject, input, formId }) => findIssuedKey(db, subject, input.passedOn?.id ?? formId),
  async perform({ needs: { db, environment }, by, subject: { merchantId }, input, formId }) {
    const foreign = foreignScopes(by, input.scopes ?? null);
    if (foreign !== null) return rejected(foreign);
    const { passedOn, ...chosen } = input;
    const id = passedOn?.id ?? formId;
    const key = { ...chosen, id, merchantId, createdBy: by };
    const created = passedOn
      ? await storeKey(db, key, { ...passedOn, secretSha256: Buffer.from(passedOn.secretSha256, 'hex') })
      : await insertKey(db, { ...key, environment });
    // The same form was sent twice within a moment.
    const issued = created ? { secret: null, ...created } : await findIssuedKey(db, { merchantId }, id);
    return issued === null ? rejected({ reason: 'form_reused' }) : done(issued);
  },
});
