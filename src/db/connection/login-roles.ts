import type { Queryable } from './pool';
import { onlyRow } from './require-row';

/** The roles of `lunas migrate`, by whose membership rights and policies apply. */
const ROLES = [
  'lunas_owner',
  'lunas_api',
  'lunas_dashboard',
  'lunas_worker',
  'lunas_payouts',
  'lunas_verifier',
  'lunas_operator',
  'lunas_reader',
] as const;
export type LunasRole = (typeof ROLES)[number];

/** Tables whose policies keep the logins of operators from the dashboard. */
const PROTECTED_TABLES = ['users', 'passkeys', 'recovery_codes', 'sessions', 'sign_in_links'] as const;

interface LoginRoles {
  readonly login: string;
  /** A superuser, or a role with BYPASSRLS: no policy applies to it. */
  readonly bypassesPolicies: boolean;
  /** The roles of Lunas whose member it is, directly or by another role. */
  readonly roles: readonly LunasRole[];
}

/** Reads what the login role of this connection is a member of. A role that does not exist is left out. */
export async function readLoginRoles(db: Queryable): Promise<LoginRoles> {
  const { rows } = await db.query<LoginRoles>(
    `select rolname as login, rolsuper or rolbypassrls as "bypassesPolicies",
       array(select role.rolname::text from pg_roles role
         where role.rolname = any ($1) and pg_has_role(session_user, role.oid, 'member') order by 1) as roles
     from pg_roles where rolname = session_user`,
    [ROLES],
  );
  return onlyRow(rows);
}

/** Whether the server has this login, and it is a member of the role. */
export async function hasLogin(db: Queryable, login: string, role: LunasRole): Promise<boolean> {
  const { rowCount } = await db.query(
    "select from pg_roles where rolname = $1 and rolcanlogin and pg_has_role(oid, $2, 'member')",
    [login, role],
  );
  return rowCount === 1;
}

/** The tables without row-level security, by name. */
export async function listUnprotectedTables(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality as protected (name, position)
     where not exists (select from pg_class where oid = to_regclass(name) and relrowsecurity) order by position`,
    [PROTECTED_TABLES],
  );
  return rows.map(({ name }) => name);
}
