import { createHmac } from 'node:crypto';
import { ensureDatabase, withClient } from './postgres';

/** The login roles of the local stack, each with the roles whose rights it has. */
const LOGINS = [
  { name: 'lunas_local_api', roles: ['lunas_api'] },
  { name: 'lunas_local_dashboard', roles: ['lunas_dashboard'] },
  { name: 'lunas_local_worker', roles: ['lunas_worker'] },
  { name: 'lunas_local_payouts', roles: ['lunas_payouts'] },
  { name: 'lunas_local_verifier', roles: ['lunas_verifier'] },
  // One worker in all roles.
  { name: 'lunas_local_workers', roles: ['lunas_worker', 'lunas_payouts', 'lunas_verifier'] },
  { name: 'lunas_local_operator', roles: ['lunas_operator'] },
  { name: 'lunas_local_reader', roles: ['lunas_reader'] },
  // Owns the sandbox's ledger, and has no right in the database of Lunas.
  { name: 'lunas_local_sandbox', roles: [] },
  // `run.json` names it: every command, API and worker can run with it.
  {
    name: 'lunas_local',
    roles: [
      'lunas_api',
      'lunas_dashboard',
      'lunas_worker',
      'lunas_payouts',
      'lunas_verifier',
      'lunas_operator',
      'lunas_reader',
      'lunas_local_sandbox',
    ],
  },
] as const;

export type DatabaseLogin = (typeof LOGINS)[number]['name'];

/** @param superuserUrl the connection string of a database: the password of the login follows from the superuser's */
export function loginUrl(superuserUrl: string, login: DatabaseLogin): string {
  const url = new URL(superuserUrl);
  url.password = createHmac('sha256', url.password).update(login).digest('hex');
  url.username = login;
  return url.href;
}

/**
 * Creates the login roles that are missing, and grants each its roles at every start: a data directory of an earlier
 * version has the login without the role of a new process. The roles exist after `lunas migrate`.
 */
export async function ensureLogins(superuserUrl: string): Promise<void> {
  await withClient(superuserUrl, async (client) => {
    const { rows } = await client.query<{ rolname: string }>('select rolname from pg_roles');
    const existing = new Set(rows.map(({ rolname }) => rolname));
    for (const { name, roles } of LOGINS) {
      const password = client.escapeLiteral(new URL(loginUrl(superuserUrl, name)).password);
      if (!existing.has(name)) await client.query(`create role ${name} login password ${password}`);
      for (const role of roles) await client.query(`grant ${role} to ${name}`);
    }
  });
}

/** Creates the database of the sandbox's ledger. The sandbox's login role owns it, and creates the tables in it. */
export async function ensureLedger(superuserUrl: string, name: string): Promise<void> {
  await ensureDatabase(superuserUrl, name);
  await withClient(superuserUrl, (client) =>
    client.query(`alter database ${client.escapeIdentifier(name)} owner to lunas_local_sandbox`),
  );
}
