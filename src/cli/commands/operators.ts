import { z } from 'zod';
import type { Environment } from '../../config';
import { hasLogin } from '../../db/connection/login-roles';
import type { Queryable } from '../../db/connection/pool';
import { operatorIdOf } from '../../domain/actor';
import { OPERATOR_SCOPES } from '../../domain/key-access';
import { UserError } from '../../errors';
import { listActions } from '../../services/audit/list-actions';
import { requestApproval, requireApproval } from '../../services/audit/request-approval';
import { isNeededToDecide } from '../../services/identity/deciders';
import {
  countCommandOperators,
  CREATE_OPERATOR,
  createOperator,
  listOperators,
  REPLACE_OPERATOR_KEY,
  replaceOperatorKey,
  REVOKE_OPERATOR,
  revokeOperator,
  revokeOperatorAlone,
} from '../../services/identity/operators';
import { howToApprove } from '../error-hints';
import {
  addKeyAccessOptions,
  keyAccessColumns,
  keyAccessFields,
  keyAccessSchemas,
  toKeyAccess,
} from '../key-access-options';
import type { LunasCommand } from '../lunas-command';
import type { CommandAudit } from '../operator-identity';
import { id, limit, textUpTo } from '../option-schemas';
import { formatFields, formatTable } from '../output';

/** Payment histories and the audit log contain it as `operator:<name>`. */
const name = z
  .string()
  .regex(/^[\w.@-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, dots, hyphens, underscores or @' });

const MAX_LOGIN_CHARACTERS = 63;
const login = textUpTo(MAX_LOGIN_CHARACTERS);

/** The login of an operator never changes, so a wrong one would decide nothing. */
async function requireLogin(db: Queryable, login: string): Promise<void> {
  if (await hasLogin(db, login, 'lunas_operator')) return;
  throw new UserError(`There is no login ${login} in lunas_operator: create it first (docs/production.md).`);
}

/**
 * One operator must not create a second one for themselves: neither to approve nor, with scopes, to request. The first
 * two cannot be approved by anybody. The first one has no scopes: its creator is not known.
 */
async function needsApproval(
  { db, actor }: CommandAudit,
  environment: Environment,
  hasScopes: boolean,
): Promise<boolean> {
  if (environment !== 'production') return false;
  if (hasScopes && operatorIdOf(actor) === undefined) {
    throw new UserError('Create the first operator without --scopes: its key creates the others.');
  }
  return (await countCommandOperators(db)) >= 2;
}

export function addOperatorsCommand(program: LunasCommand): void {
  const operators = program.command('operators').description('keys of the operator API, and the audit log');
  const create = operators
    .command('create')
    .description('create a key of the operator API; it is shown only once')
    .requiredOption('--name <name>', "the operator's name in the audit log")
    .option('--login <role>', "the person's login of PostgreSQL, with which alone the operator decides in production");
  addKeyAccessOptions(create, OPERATOR_SCOPES)
    .examples(
      'lunas operators create --name dewi --login dewi',
      'lunas operators create --name dewi-api --login dewi --scopes read,settle --allow-ip 10.1.0.0/16',
    )
    .writeAction(
      z.object({ name, login: login.optional(), ...keyAccessSchemas(OPERATOR_SCOPES) }),
      async ({ name, login, ...access }, audit, _, environment) => {
        const keyAccess = toKeyAccess(access);
        const hasScopes = keyAccess.scopes !== null && keyAccess.scopes !== undefined;
        if (environment === 'production' && !hasScopes && login === undefined) {
          throw new UserError('In production, an operator without --scopes needs the --login with which it decides.');
        }
        const isApproved = !(await needsApproval(audit, environment, hasScopes));
        if (login !== undefined) await requireLogin(audit.db, login);
        const createdBy = operatorIdOf(audit.actor);
        const newOperator = { name, login, environment, ...keyAccess, createdBy, isApproved };
        const operator = await audit.record(CREATE_OPERATOR, name, () => createOperator(audit.db, newOperator));
        const request = {
          action: 'operator.create',
          target: name,
          parameters: { operatorId: operator.id, login: operator.login },
        } as const;
        const approvalId = isApproved ? null : await requestApproval(audit, audit.actor, request, audit.note);
        const ids = { Key: operator.secret, Operator: operator.id, Name: operator.name, Login: operator.login };
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

/** Who creates an operator sees the key. So the person replaces it, with the own login. */
function addReplaceKey(operators: LunasCommand): void {
  operators
    .command('replace-key')
    .description('replace your own key, the one in LUNAS_OPERATOR_KEY; the new one is shown only once')
    .writeAction(z.object({}), async (_, audit, __, environment) => {
      const operatorId = operatorIdOf(audit.actor);
      if (operatorId === undefined) throw new UserError('Set LUNAS_OPERATOR_KEY to the key that is to be replaced.');
      const operator = await audit.record(REPLACE_OPERATOR_KEY, audit.actor.name, () =>
        replaceOperatorKey(audit.db, { operatorId, environment }),
      );
      const fields = formatFields({ Key: operator.secret, Operator: operator.id, Name: operator.name });
      return {
        json: { operator },
        text: `${fields}\n\nKeep the key now: it is not shown again. The old one is not accepted any more.`,
      };
    });
}

/** In production, two operators who can decide have to remain: the last one could create the next one alone. */
function addRevoke(operators: LunasCommand): void {
  operators
    .command('revoke <operator-id>')
    .description("revoke an operator's key permanently")
    .writeAction(z.object({ operatorId: id }), async ({ operatorId }, audit, _, environment) => {
      const { db, actor, note } = audit;
      const isProduction = environment === 'production';
      if (isProduction && (await isNeededToDecide(db, operatorId))) {
        const name = (await listOperators(db)).find(({ id }) => id === operatorId)?.name ?? operatorId;
        const request = { action: 'operator.revoke', target: name, parameters: { operatorId } } as const;
        await requireApproval(audit, actor, request, note);
      }
      const operator = await audit.record(REVOKE_OPERATOR, operatorId, () =>
        (isProduction ? revokeOperatorAlone : revokeOperator)(db, operatorId),
      );
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
