import os from 'node:os';
import type { Config, Environment } from '../config';
import { parseOperatorKey } from '../crypto/secret-key';
import type { Pool, Queryable } from '../db/connection/pool';
import type { OperatorActor } from '../domain/actor';
import { UserError } from '../errors';
import type { Logger } from '../observability/logger';
import { countCommandOperators, findOperator } from '../services/identity/operators';

/** What a command that writes needs: database, log, and the operator who runs it, with the reason. */
export interface CommandAudit {
  readonly db: Pool;
  readonly log: Logger;
  readonly actor: OperatorActor;
  readonly note: string | undefined;
}

/** When production requires an operator key. It always requires a note. */
export type KeyRule = 'always' | 'unless_first_operator';

/**
 * The operator who runs the command: the owner of LUNAS_OPERATOR_KEY, otherwise the user of the operating system.
 * @param environment that of the database
 * @throws UserError if the key may not run commands, or if production requires a note or a key that is absent
 */
export async function commandOperator(
  db: Queryable,
  { LUNAS_OPERATOR_KEY }: Config,
  environment: Environment,
  { note, keyRule }: { readonly note: string | undefined; readonly keyRule: KeyRule },
): Promise<OperatorActor> {
  const isRestricted = environment === 'production';
  if (isRestricted && note === undefined) {
    throw new UserError('In production, a command that writes or shows personal data needs a reason: add --note "…".');
  }
  if (LUNAS_OPERATOR_KEY !== undefined) return keyOwner(db, LUNAS_OPERATOR_KEY, environment);
  if (isRestricted && (keyRule === 'always' || (await countCommandOperators(db)) > 0)) {
    throw new UserError(
      'In production, a command that writes or shows personal data needs an operator: ' +
        'set LUNAS_OPERATOR_KEY to your operator key.',
    );
  }
  return { kind: 'os_user', name: userName(), door: 'cli' };
}

async function keyOwner(db: Queryable, secretKey: string, environment: Environment): Promise<OperatorActor> {
  const key = parseOperatorKey(secretKey, environment);
  const operator = key && (await findOperator(db, key.secretSha256, null));
  if (!operator) {
    throw new UserError('LUNAS_OPERATOR_KEY is no valid key of an operator; lunas operators list shows them.');
  }
  if (operator.scopes === null) {
    return { kind: 'operator', name: operator.name, door: 'cli', operatorId: operator.id, scopes: operator.scopes };
  }
  throw new UserError('LUNAS_OPERATOR_KEY has scopes, so it is only for the operator API: use a key without scopes.');
}

/** A user id without an entry in the user database has no name. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
