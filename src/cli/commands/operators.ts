import type { Command } from 'commander';
import { z } from 'zod';
import { type AuditedAction, listActions } from '../../operator/audit';
import { createOperator, listOperators, type Operator, revokeOperator } from '../../operator/operators';
import { withCommandAudit } from '../operator-identity';
import { defineAction, withExamples } from '../command-action';
import { id, wholeNumber } from '../option-schemas';
import { formatFields, formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const MAX_ACTIONS = 1_000;

/** Payment histories and the audit log contain it as `operator:<name>`. */
const name = z
  .string()
  .regex(/^[\w.@-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, dots, hyphens, underscores or @' });

export function addOperatorsCommand(program: Command, terminal: Terminal): void {
  const operators = program.command('operators').description('keys of the operator API, and the audit log');
  addCreate(operators, terminal);
  addList(operators, terminal);
  addRevoke(operators, terminal);
  addActions(operators, terminal);
}

function addCreate(operators: Command, terminal: Terminal): void {
  const command = operators
    .command('create')
    .description('create a key of the operator API; it is shown only once')
    .requiredOption('--name <name>', "the operator's name in the audit log");
  withExamples(command, 'lunas operators create --name dewi');
  defineAction(command, terminal, z.object({ name }), ({ name }, context) =>
    withDatabase(context, async (db) => {
      const environment = context.config.LUNAS_ENVIRONMENT;
      const operator = await withCommandAudit(db, 'operator.create', name, () =>
        createOperator(db, { name, environment }),
      );
      const fields = { Key: operator.secret, Operator: operator.id, Name: operator.name };
      return { json: { operator }, text: `${formatFields(fields)}\n\nKeep the key now: it is not shown again.` };
    }),
  );
}

function addList(operators: Command, terminal: Terminal): void {
  const command = operators.command('list').description('list all operators, without their keys');
  const columns = {
    ID: (operator: Operator) => operator.id,
    NAME: (operator: Operator) => operator.name,
    KEY: (operator: Operator) => operator.masked,
    CREATED: (operator: Operator) => operator.createdAt,
    REVOKED: (operator: Operator) => operator.revokedAt,
  };
  defineAction(command, terminal, z.object({}), (_, context) =>
    withDatabase(context, async (db) => {
      const operators = await listOperators(db);
      return { json: { operators }, text: formatTable(operators, columns, 'There is no operator yet.') };
    }),
  );
}

function addRevoke(operators: Command, terminal: Terminal): void {
  const command = operators.command('revoke <operator-id>').description("revoke an operator's key permanently");
  defineAction(command, terminal, z.object({ operatorId: id }), ({ operatorId }, context) =>
    withDatabase(context, async (db) => {
      const operator = await withCommandAudit(db, 'operator.revoke', operatorId, () => revokeOperator(db, operatorId));
      return { json: { operator }, text: `The key of ${operator.name} (${operator.masked}) is revoked.` };
    }),
  );
}

function addActions(operators: Command, terminal: Terminal): void {
  const command = operators
    .command('actions')
    .description('show the audit log, newest first: actor, action, target, note and outcome')
    .option('--limit <n>', 'maximum number', '20');
  const columns = {
    AT: (action: AuditedAction) => action.requestedAt,
    BY: (action: AuditedAction) => action.actor,
    ACTION: (action: AuditedAction) => action.action,
    TARGET: (action: AuditedAction) => action.target,
    NOTE: (action: AuditedAction) => action.note,
    OUTCOME: (action: AuditedAction) => action.outcome,
    DETAIL: (action: AuditedAction) => action.detail,
  };
  defineAction(command, terminal, z.object({ limit: wholeNumber(1, MAX_ACTIONS) }), ({ limit }, context) =>
    withDatabase(context, async (db) => {
      const actions = await listActions(db, { limit });
      return { json: { actions }, text: formatTable(actions, columns, 'The audit log is empty.') };
    }),
  );
}
