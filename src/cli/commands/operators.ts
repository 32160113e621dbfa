import { z } from 'zod';
import type { Environment } from '../../config';
import type { Queryable } from '../../db/connection/pool';
import { OPERATOR_SCOPES } from '../../domain/key-access';
import { listActions } from '../../services/audit/audit';
import {
  countCommandOperators,
  createOperator,
  listOperators,
  revokeOperator,
} from '../../services/identity/operators';
import { howToApprove, requestApproval } from '../../services/audit/request-approval';
import {
  addKeyAccessOptions,
  keyAccessColumns,
  keyAccessFields,
  keyAccessSchemas,
  toKeyAccess,
} from '../key-access-options';
import type { LunasCommand } from '../lunas-command';
import { id, limit } from '../option-schemas';
import { formatFields, formatTable } from '../output';

/** Payment histories and the audit log contain it as `operator:<name>`. */
const name = z
  .string()
  .regex(/^[\w.@-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, dots, hyphens, underscores or @' });

/**
 * A second operator approves, so one operator must not create the second one for themselves. The first two cannot be
 * approved by anybody. A key with scopes approves nothing.
 */
async function needsApproval(
  db: Queryable,
  environment: Environment,
  scopes: readonly string[] | null | undefined,
): Promise<boolean> {
  return environment === 'production' && !scopes && (await countCommandOperators(db)) >= 2;
}

export function addOperatorsCommand(program: LunasCommand): void {
  const operators = program.command('operators').description('keys of the operator API, and the audit log');
  const create = operators
    .command('create')
    .description('create a key of the operator API; it is shown only once')
    .requiredOption('--name <name>', "the operator's name in the audit log");
  addKeyAccessOptions(create, OPERATOR_SCOPES)
    .examples(
      'lunas operators create --name dewi',
      'lunas operators create --name dewi --allow-ip 10.1.0.0/16 --scopes read,settle --expires 90d',
    )
    .writeAction(
      z.object({ name, ...keyAccessSchemas(OPERATOR_SCOPES) }),
      async ({ name, ...access }, audit, _, environment) => {
        const keyAccess = toKeyAccess(access);
        const isApproved = !(await needsApproval(audit.db, environment, keyAccess.scopes));
        const newOperator = { name, environment, ...keyAccess, isApproved };
        const operator = await audit.record('operator.create', name, () => createOperator(audit.db, newOperator));
        const request = {
          action: 'operator.create',
          target: name,
          parameters: { operatorId: operator.id },
        } as const;
        const approvalId = isApproved ? null : await requestApproval(audit.db, audit.by, request, audit.note);
        const ids = { Key: operator.secret, Operator: operator.id, Name: operator.name };
        const fields = formatFields({ ...ids, ...keyAccessFields(operator) });
        const hint = approvalId === null ? '' : `\nIt is not accepted yet: ${howToApprove(approvalId)}`;
        const text = `${fields}\n\nKeep the key now: it is not shown again.${hint}`;
        return { json: { operator, ...(approvalId !== null && { approvalId }) }, text };
      },
      { keyRule: 'unless_first_operator' },
    );
  operators
    .command('list')
    .description('list all operators, without their keys')
    .databaseAction(z.object({}), async (_, db) => {
      const operators = await listOperators(db);
      const rows = operators.map((operator) => ({
        ID: operator.id,
        NAME: operator.name,
        KEY: operator.masked,
        ...keyAccessColumns(operator),
        APPROVED: operator.isApproved ? 'yes' : 'no',
        CREATED: operator.createdAt,
        REVOKED: operator.revokedAt,
      }));
      return { json: { operators }, text: formatTable(rows, 'There is no operator yet.') };
    });
  operators
    .command('revoke <operator-id>')
    .description("revoke an operator's key permanently")
    .writeAction(z.object({ operatorId: id }), async ({ operatorId }, audit) => {
      const operator = await audit.record('operator.revoke', operatorId, () => revokeOperator(audit.db, operatorId));
      return { json: { operator }, text: `The key of ${operator.name} (${operator.masked}) is revoked.` };
    });
  addActions(operators);
}

function addActions(operators: LunasCommand): void {
  operators
    .command('actions')
    .description('show the audit log, newest first: actor, action, target, note and outcome')
    .option('--limit <n>', 'maximum number', '20')
    .databaseAction(z.object({ limit }), async ({ limit }, db) => {
      const actions = await listActions(db, { limit });
      const rows = actions.map((action) => ({
        AT: action.requestedAt,
        BY: action.actor,
        ACTION: action.action,
        TARGET: action.target,
        NOTE: action.note,
        OUTCOME: action.outcome,
        DETAIL: action.detail,
      }));
      return { json: { actions }, text: formatTable(rows, 'The audit log is empty.') };
    });
}
