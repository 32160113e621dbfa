import { rejectedSetting } from '../db/connection/pool-mode';
import { codeOf, messageOf, UserError } from '../errors';

const UNKNOWN_AUTHORITY = 'has a certificate of an unknown authority. Set DATABASE_TLS_CA to its file.';

/** How to correct an error of the driver or the server, by its code. */
const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not respond. Start it, or correct DATABASE_URL.',
  ENOTFOUND: 'has an unknown host name. Correct DATABASE_URL.',
  ETIMEDOUT: 'does not respond in time. Start it, or correct DATABASE_URL.',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  '28P01': 'rejects the password. Correct DATABASE_URL.',
  '28000': 'rejects the user. Correct DATABASE_URL.',
  '3D000': 'is running, but has no such database. Create it, or correct DATABASE_URL.',
  '55P03': 'holds a lock for a long transaction. End that (`pg_stat_activity` shows it), and run the command again.',
  '42P01': 'lacks tables of Lunas. Run `lunas migrate`.',
  '26000': 'is behind a pooler in transaction mode. Set DATABASE_POOLER=transaction.',
  '42P05': 'is behind a pooler in transaction mode. Set DATABASE_POOLER=transaction.',
  '42703': 'lacks columns of Lunas. Run `lunas migrate`.',
};

const ACCESS_DENIED = '42501';
const ROLES_ADVICE =
  'See "Database roles" in docs/production.md: `lunas migrate` needs a member of lunas_owner, other commands one of ' +
  'lunas_operator.';

const POOLER_ADVICE = 'Set DATABASE_POOLER to its pool_mode: session or transaction.';

/** A UserError with a remedy if the error has one, else the error itself. */
export function explainDatabaseError(error: unknown, databaseUrl: string): unknown {
  const { host, pathname } = new URL(databaseUrl);
  if (codeOf(error) === ACCESS_DENIED) {
    return new UserError(`PostgreSQL at ${host}${pathname} rejects it: ${messageOf(error)}. ${ROLES_ADVICE}`);
  }
  const rejected = rejectedSetting(messageOf(error));
  if (rejected !== null) {
    return new UserError(`The pooler at ${host} rejects the connection (${rejected}). ${POOLER_ADVICE}`);
  }
  const remedy = REMEDIES[codeOf(error) ?? connectTimeoutCode(error)];
  if (remedy === undefined) return error;
  return new UserError(`PostgreSQL at ${host}${pathname} ${remedy}`);
}

/** The driver's own timeout of a connection attempt has no code. */
function connectTimeoutCode(error: unknown): string {
  return /connection timeout|timeout exceeded/.test(messageOf(error)) ? 'ETIMEDOUT' : '';
}
