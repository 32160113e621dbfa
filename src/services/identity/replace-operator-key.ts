import { z } from 'zod';
import { createOperatorKey } from '../../crypto/secret-key';
import { findCell } from '../../db/connection/environment';
import type { IssueDependencies } from '../merchants/keys/create-key';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { describeOperator, findOperatorById, OPERATOR_COLUMNS, type OperatorRow } from './operators';

/**
 * Replaces the key of the own operator: the old one is not accepted any more. Who creates an operator sees the key, so
 * its person replaces it; in production only with the own login of PostgreSQL.
 */
export const replaceOperatorKey = new Operation({
  name: 'operator.replace_key',
  operator: 'all',
  path: z.object({ operator: z.uuid() }),
  input: z.object({}),
  rejections: { foreign: {} },
  messages: { foreign: () => 'A key is replaced with the PostgreSQL login of its operator.' },
  load: ({ db }: IssueDependencies, _scope, { operator }) => findOperatorById(db, operator),
  target: ({ subject }) => subject.name,
  allows: ({ id }, by) => (by.kind === 'operator' && by.operatorId === id ? null : { reason: 'foreign' }),
  async perform({ needs: { db, environment }, subject: { id } }) {
    const { secret, secretSha256, prefix, lastFour } = createOperatorKey(environment, await findCell(db));
    const { rows } = await db.query<OperatorRow>(
      `update operators set secret_sha256 = $2, prefix = $3, last_four = $4
       where id = $1 and (login = session_user or not needs_two_operators()) returning ${OPERATOR_COLUMNS}`,
      [id, secretSha256, prefix, lastFour],
    );
    return rows[0] === undefined ? rejected({ reason: 'foreign' }) : done({ ...describeOperator(rows[0]), secret });
  },
});
