import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { describeOperator, OPERATOR_COLUMNS, type OperatorRow } from './operators';

/** Locked: concurrent revocations are counted one after the other. */
const LOCKED_DECIDERS = `select id from operators where can_decide(operators) order by id for update`;

/**
 * Ends the key of an operator permanently. One that was revoked before keeps its time. In production, two operators who
 * can decide have to remain, because the last one could create the next one alone: two operators revoke one of the last
 * two.
 */
export const revokeOperator = new Operation({
  name: 'operator.revoke',
  operator: 'all',
  path: z.object({ operator: z.uuid() }),
  input: z.object({}),
  rejections: { superseded: {} },
  messages: { superseded: () => 'Only two operators can decide now, and it is one of them: request this again.' },
  load: ({ db }: AuditDependencies, _scope, { operator }) => findDecider(db, operator),
  target: ({ subject }) => subject.id,
  approval: {
    executes: 'database',
    isExempt: ({ isNeededToDecide }) => !isNeededToDecide,
    target: ({ subject }) => subject.name,
  },
  async perform({ needs: { db }, subject, approval }) {
    const { rows } = await db.query<OperatorRow>(
      `with deciders as materialized (${LOCKED_DECIDERS})
       update operators set revoked_at = coalesce(revoked_at, now())
       where id = $1 and ($2 or not is_production()
         or (select count(*) from deciders) <> 2 or id not in (select id from deciders))
       returning ${OPERATOR_COLUMNS}`,
      [subject.id, approval !== null],
    );
    return rows[0] === undefined ? rejected({ reason: 'superseded' }) : done(describeOperator(rows[0]));
  },
});

interface Decider {
  readonly id: string;
  readonly name: string;
  /** Without it, no request could be decided any more. */
  readonly isNeededToDecide: boolean;
}

async function findDecider(db: Queryable, operatorId: string): Promise<Decider> {
  const { rows } = await db.query<Decider>(
    `select id, name, can_decide(operators)
       and (select count(*) from operators decider where can_decide(decider)) = 2 as "isNeededToDecide"
     from operators where id = $1`,
    [operatorId],
  );
  return requireRow(rows, 'operator', operatorId);
}
