import { z } from 'zod';
import { hasLogin } from '../../db/connection/login-roles';
import { OPERATOR_SCOPES, type OperatorScope } from '../../domain/key-access';
import { isNetwork } from '../../lib/allowed-networks';
import type { IssueDependencies } from '../merchants/keys/create-key';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { countCommandOperators, insertOperator } from './operators';

/** Payment histories and the audit log contain it as `operator:<name>`. */
export const OPERATOR_NAME = /^[\w.@-]{1,64}$/;

export const MAX_LOGIN_CHARACTERS = 63;

/**
 * Issues the key of a new operator. Two operators approve the third one before its key is accepted, also one with
 * scopes: else one operator could create a second one for themselves, to approve or to request. The first two need no
 * approval. The first one has no scopes, because its creator is not known. In production a key that does more than read
 * has the login of its person: with a second key without it, one person would be two.
 */
export const createOperator = new Operation({
  name: 'operator.create',
  operator: 'all',
  path: z.object({}),
  input: z.object({
    name: z.string().regex(OPERATOR_NAME),
    login: z.string().min(1).max(MAX_LOGIN_CHARACTERS).optional(),
    /** Absent: all. */
    scopes: z.array(z.enum(OPERATOR_SCOPES)).min(1).optional(),
    allowedNetworks: z.array(z.string().refine(isNetwork)),
    /** Absent: never. */
    expiresAt: z.date().optional(),
  }),
  rejections: { login_missing: {}, first_has_scopes: {}, login_unknown: { login: z.string() } },
  messages: {
    login_missing: () =>
      'In production, a key needs the login of the person who acts with it. Only a program that reads needs none.',
    first_has_scopes: () => 'Create the first operator without scopes: its key creates the others.',
    login_unknown: ({ login }) => `There is no login ${login} in lunas_operator: create it first (docs/production.md).`,
  },
  async load({ db, environment }: IssueDependencies) {
    return { isProduction: environment === 'production', commandOperators: await countCommandOperators(db) };
  },
  target: ({ input }) => input.name,
  allows({ isProduction }, by, input) {
    if (!isProduction || input === undefined) return null;
    if (input.scopes !== undefined && by.kind !== 'operator') return { reason: 'first_has_scopes' };
    return input.login === undefined && !onlyReads(input.scopes) ? { reason: 'login_missing' } : null;
  },
  async perform({ needs: { db, environment }, by, subject: { isProduction, commandOperators }, input }) {
    // The login of an operator never changes, so a wrong one would decide nothing.
    if (input.login !== undefined && !(await hasLogin(db, input.login, 'lunas_operator'))) {
      return rejected({ reason: 'login_unknown', login: input.login });
    }
    const createdBy = by.kind === 'operator' ? by.operatorId : undefined;
    const isApproved = !isProduction || commandOperators < 2;
    return done(await insertOperator(db, { ...input, environment, createdBy, isApproved }));
  },
});

/** @param scopes absent: all */
function onlyReads(scopes: readonly OperatorScope[] | undefined): boolean {
  return scopes?.every((scope) => scope === 'read') ?? false;
}
