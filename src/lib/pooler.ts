import type { ClientBase, PoolConfig } from 'pg';

/** `pool_mode` of PgBouncer. */
export const POOL_MODES = ['session', 'transaction'] as const;
export type PoolMode = (typeof POOL_MODES)[number];

/** In a connection string `DATABASE_POOLER` reaches every pool of a process, and the processes that it starts. */
const PARAMETER = 'pooler';

/** The connection string, if a pooler of this mode has its address. */
export function throughPooler(databaseUrl: string, mode: PoolMode): string {
  const url = new URL(databaseUrl);
  url.searchParams.set(PARAMETER, mode);
  return url.href;
}

/** The mode of the pooler at this address; undefined if PostgreSQL itself has the address. */
export function poolModeOf(databaseUrl: string): PoolMode | undefined {
  if (!URL.canParse(databaseUrl)) return undefined;
  const mode = new URL(databaseUrl).searchParams.get(PARAMETER);
  return POOL_MODES.find((known) => known === mode);
}

/**
 * How the connections of a pool limit their statements. PgBouncer rejects settings at the start of a connection. In
 * session mode the first statement sets the limit. In transaction mode each statement may run in another session, where
 * neither settings nor prepared statements remain: the server enforces the limit of the role.
 */
export function statementLimit(
  databaseUrl: string,
  timeoutMs: number,
): Pick<PoolConfig, 'statement_timeout' | 'onConnect'> {
  const mode = poolModeOf(databaseUrl);
  if (mode === undefined) return { statement_timeout: timeoutMs };
  if (mode === 'transaction') return { onConnect: prepareNoStatements };
  // If it fails, the connection is lost, and the next statement reports that.
  return { onConnect: (client) => void client.query(`set statement_timeout = ${timeoutMs}`).catch(() => undefined) };
}

/** Removes the names of statements, under which the driver would prepare them. */
function prepareNoStatements(client: ClientBase): void {
  const query = client.query.bind(client);
  Object.assign(client, {
    query: (statement: unknown, ...rest: unknown[]): unknown =>
      Reflect.apply(query, undefined, [withoutName(statement), ...rest]),
  });
}

function withoutName(statement: unknown): unknown {
  const isNamed = typeof statement === 'object' && statement !== null && 'name' in statement;
  return isNamed ? { ...statement, name: undefined } : statement;
}
