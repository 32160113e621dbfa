import { z } from 'zod';
import { operatorIdOf } from '../../domain/actor';
import { OPERATOR_SCOPES } from '../../domain/key-access';
import { UserError } from '../../errors';
import { listActions } from '../../services/audit/list-actions';
import { approveOperator } from '../../services/identity/approve-operator';
import { createOperator, MAX_LOGIN_CHARACTERS, OPERATOR_NAME } from '../../services/identity/create-operator';
import { listOperators } from '../../services/identity/operators';
import { replaceOperatorKey } from '../../services/identity/replace-operator-key';
import { revokeOperator } from '../../services/identity/revoke-operator';
import { requireDone } from '../../services/operations/require-done';
import { howToApprove } from '../error-hints';
import { addKeyAccessOptions, keyAccessColumns, keyAccessFields, keyAccessSchemas } from '../key-access-options';
import type { LunasCommand } from '../lunas-command';
import { id, limit, textUpTo } from '../option-schemas';
import { formatFields, formatTable } from '../output';
import { runOperation } from '../run-operation';

const name = z
  .string()
  .regex(OPERATOR_NAME, { error: 'must be 1 to 64 letters, digits, dots, hyphens, underscores or @' });

const login = textUpTo(MAX_LOGIN_CHARACTERS);

/** The sentences of rejections that name options. */
const OPTION_TEXTS: Readonly<Partial<Record<string, string>>> = {
  login_missing:
    'In production, a key needs the --login of the person who acts with it. For a program that only reads, choose ' +
    '--scopes read instead.',
  first_has_scopes: 'Create the first operator without --scopes: its key creates the others.',
};

export function defineOperators(operators: LunasCommand): void {
  const create = operators
    .command('create')
    .description('create a key of the operator API; it is shown only once')
    .requiredOption('--name <name>', "the operator's name in the audit log")
    .option('--login <role>', "the person's login of PostgreSQL; in production only --scopes read goes without it");
  addKeyAccessOptions(create, OPERATOR_SCOPES)
    .examples(
      'lunas operators create --name dewi --login dewi',
      'lunas operators create --name dewi-api --login dewi --scopes read,settle --allow-ip 10.1.0.0/16',
    )
    .writeAction(
      z.object({ name, login: login.optional(), ...keyAccessSchemas(OPERATOR_SCOPES) }),
      async ({ name, login, allowIp, scopes, expires }, audit, _, environment) => {
        const { db, log } = audit;
        const input = { name, login, scopes, allowedNetworks: allowIp, expiresAt: expires };
        const created = await runOperation(audit, createOperator, { db, log, environment }, { path: {}, input });
        const text = created.outcome === 'rejected' ? OPTION_TEXTS[created.rejection.reason] : undefined;
        if (text !== undefined) throw new UserError(text);
        const operator = requireDone(created);
        const proposal = { path: { operator: operator.id }, input: { login: operator.login } };
        const proposed = operator.isApproved ? null : await runOperation(audit, approveOperator, audit, proposal);
        const approvalId = proposed?.outcome === 'waits' ? proposed.approvalId : null;
        const ids = { Key: operator.secret, Operator: operator.id, Name: operator.name, Login: operator.login };
        const fields = formatFields({ ...ids, ...keyAccessFields(operator) });
        const hint = approvalId === null ? '' : `\nIt is not accepted yet: ${howToApprove(approvalId)}`;
        return {
          json: { operator, ...(approvalId !== null && { approvalId }) },
          text: `${fields}\n\nKeep the key now: it is not shown again.${hint}`,
        };
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
        LOGIN: operator.login,
        KEY: operator.masked,
        'KEY SET BY': operator.keySetBy,
        ...keyAccessColumns(operator),
        APPROVED: operator.isApproved ? 'yes' : 'no',
        CREATED: operator.createdAt,
        'CREATED BY': operators.find(({ id }) => id === operator.createdBy)?.name ?? null,
        REVOKED: operator.revokedAt,
      }));
      return { json: { operators }, text: formatTable(rows, 'There is no operator yet.') };
    });
  addReplaceKey(operators);
  addRevoke(operators);
  addActions(operators);
}

function addReplaceKey(operators: LunasCommand): void {
  operators
    .command('replace-key')
    .description('replace your own key, the one in LUNAS_OPERATOR_KEY; the new one is shown only once')
    .writeAction(z.object({}), async (_, audit, __, environment) => {
      const operatorId = operatorIdOf(audit.actor);
      if (operatorId === undefined) throw new UserError('Set LUNAS_OPERATOR_KEY to the key that is to be replaced.');
      const { db, log } = audit;
      const call = { path: { operator: operatorId }, input: {} };
      const operator = requireDone(await runOperation(audit, replaceOperatorKey, { db, log, environment }, call));
      const fields = formatFields({ Key: operator.secret, Operator: operator.id, Name: operator.name });
      return {
        json: { operator },
        text: `${fields}\n\nKeep the key now: it is not shown again. The old one is not accepted any more.`,
      };
    });
}

function addRevoke(operators: LunasCommand): void {
  operators
    .command('revoke <operator-id>')
    .description("revoke an operator's key permanently")
    .writeAction(z.object({ operatorId: id }), async ({ operatorId }, audit) => {
      const call = { path: { operator: operatorId }, input: {} };
      const operator = requireDone(await runOperation(audit, revokeOperator, audit, call));
      return { json: { operator }, text: `The key of ${operator.name} (${operator.masked}) is revoked.` };
    });
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
