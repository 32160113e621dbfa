import type { KeyRing } from '../../crypto/master-keys';
import { listUnprotectedTables, readLoginRoles, type LunasRole } from '../../db/connection/login-roles';
import type { SchemaDifference } from '../../db/connection/migrate';
import type { Queryable } from '../../db/connection/pool';
import { poolModeViolation, rejectedSetting } from '../../db/connection/pool-mode';
import { listPasskeyHosts } from '../../db/identity/passkeys';
import { listMissingRoles } from '../../db/operations/missing-roles';
import type { WorkerRole } from '../../domain/process-roles';
import { messageOf } from '../../errors';
import { listUnlawfulFeePayers } from '../../services/merchants/fee-payer';
import { hasPayoutsAccount } from '../../services/provider-accounts/payouts-account';
import { isSandboxUrl, listEnabledUrls, listStoppedAccounts } from '../../services/provider-accounts/provider-accounts';
import { hasDemoData } from '../../services/sandbox/seed-demo';
import type { ConnectionFailure } from '../../temporal/probe-connection';
import type { CheckedRequirement } from '../../temporal/requirements';
import type { UnpolledTaskQueue } from '../../temporal/task-queue-polls';
import { requireSealingKeys } from '../require-sealing-keys';
import { okUnless, type Finding, type Rule } from './rule';
import type { Settings } from './settings-rules';

/** Whose rules are checked. The doctor does not know which process has its settings. */
export type CheckedProcess = 'api' | 'dashboard' | 'worker' | 'doctor';

/** The settings, and what they lead to. */
export interface Installation extends Settings {
  readonly process: CheckedProcess;
  /** Null if the database is not available. */
  readonly database: { readonly db: Queryable; readonly schema: SchemaDifference } | null;
  /** Why the database is not available; null if it is. */
  readonly databaseError: string | null;
  /** Rejects if Temporal does not respond, or its address is not known. */
  readonly checkTemporal: () => Promise<readonly CheckedRequirement[]>;
  /** Rejects as `checkTemporal`. */
  readonly listUnpolled: (hasPayouts: boolean) => Promise<readonly UnpolledTaskQueue[]>;
  /** Null if the process can connect to Temporal, or does so without TLS. */
  readonly temporalConnection: () => Promise<ConnectionFailure | null>;
  /** Rejects if there is none. */
  readonly masterKeys: () => Promise<KeyRing>;
}

/** Only `lunas doctor` requires these: a process that restarts during an outage has to start. */
export const REACHABILITY_RULES: readonly Rule<Installation>[] = [
  {
    name: 'database',
    advice: 'Start PostgreSQL, or correct DATABASE_URL.',
    check: ({ databaseError }) => okUnless(databaseError),
  },
  {
    name: 'temporal',
    advice: 'Run `lunas temporal check`. Start Temporal, or correct TEMPORAL_ADDRESS and its certificates.',
    check: checkTemporal,
  },
  {
    name: 'worker',
    advice: 'Start `lunas worker` with its roles: docs/operations/backlog.md has what else to look at.',
    check: checkWorker,
  },
  {
    name: 'roles',
    advice:
      'Start `lunas api`, `lunas dashboard`, or `lunas worker` with these WORKER_ROLES. A role that you gave up is ' +
      'forgotten after 7 days.',
    check: checkRoles,
  },
  {
    name: 'stopped_accounts',
    advice:
      'Correct the setting at the acquirer, run `lunas accounts enable`, and resolve the exception ' +
      '(docs/operators.md, "Provider accounts").',
    check: (installation) => withTables(installation, stoppedAccountsViolation),
  },
  {
    name: 'fee_payer',
    advice: 'Run `lunas merchants set --fee-payer merchant` for each of them (docs/fees.md, "Who pays").',
    check: (installation) => withProductionTables(installation, feePayerViolation),
  },
];

/** The API and the worker require these in addition to `SETTINGS_RULES`. */
export const INSTALLATION_RULES: readonly Rule<Installation>[] = [
  {
    name: 'database_pooler',
    advice: 'Set DATABASE_POOLER and the limits of the roles (docs/production.md, "Connection pooler").',
    check: checkPooler,
  },
  { name: 'schema', advice: 'Run `lunas migrate`.', check: checkSchema },
  {
    name: 'master_key',
    advice: 'Set LUNAS_MASTER_KEY and LUNAS_OLD_MASTER_KEYS to the keys of this database.',
    check: (installation) => withTables(installation, (db) => masterKeyViolation(db, installation)),
  },
  {
    name: 'demo_data',
    advice: 'Suspend the demo merchant (`lunas merchants suspend`).',
    check: (installation) => withProductionTables(installation, demoDataViolation),
  },
  {
    name: 'sandbox_accounts',
    advice: 'Disable them (`lunas accounts disable`).',
    check: (installation) => withProductionTables(installation, sandboxAccountsViolation),
  },
  {
    name: 'temporal_connection',
    advice: 'Correct TEMPORAL_TLS_CA, TEMPORAL_TLS_SERVER_NAME or the client certificate.',
    check: checkTemporalConnection,
  },
  {
    name: 'dashboard_role',
    advice: 'Give `lunas dashboard` a login role of its own, in lunas_dashboard only (docs/production.md).',
    check: (installation) => withProductionTables(installation, dashboardRoleViolation),
  },
  {
    name: 'payouts_role',
    advice:
      'Run a worker with WORKER_ROLES=payouts and a login role of its own, in lunas_payouts only (docs/production.md).',
    check: (installation) => withProductionTables(installation, payoutsRoleViolation),
  },
  {
    name: 'verifier_role',
    advice:
      'Run a worker with WORKER_ROLES=verifier and a login of its own, in lunas_verifier only (docs/production.md).',
    check: (installation) => withProductionTables(installation, verifierRoleViolation),
  },
  {
    name: 'operator_role',
    advice: 'Give each operator a login role of their own, in lunas_operator only (docs/production.md).',
    check: (installation) => withProductionTables(installation, operatorRoleViolation),
  },
  {
    name: 'row_level_security',
    advice: 'Enable it as the owner of the tables: `alter table … enable row level security`.',
    check: (installation) => withTables(installation, unprotectedTablesViolation),
  },
  {
    name: 'passkey_host',
    advice:
      'Set DASHBOARD_URL to the earlier host. If it has moved, its users add new passkeys after a sign-in by code.',
    check: checkPasskeyHost,
  },
];

async function checkTemporal({ checkTemporal: requirements }: Installation): Promise<Finding> {
  try {
    const broken = (await requirements()).filter(({ state }) => state === 'broken');
    return okUnless(broken.length === 0 ? null : broken.map(({ violation }) => violation).join(' '));
  } catch (error) {
    return { violation: sentenceOf(error) };
  }
}

/** No worker polls before the first start of an installation: that is no violation. */
async function checkWorker({ database, listUnpolled }: Installation): Promise<Finding> {
  const hasTables = database !== null && database.schema.missing.length === 0;
  const hasPayouts = hasTables && (await hasPayoutsAccount(database.db));
  // The rule `temporal` has the reason.
  const unpolled = await listUnpolled(hasPayouts).catch(() => null);
  if (unpolled === null) return 'not applicable';
  if (unpolled.length === 0) return 'ok';
  return { warning: `No worker polls ${unpolled.map(({ taskQueue }) => taskQueue).join(', ')}.` };
}

async function checkRoles({ database }: Installation): Promise<Finding> {
  if (database === null || database.schema.missing.length > 0) return 'not applicable';
  const missing = await listMissingRoles(database.db);
  return missing.length === 0 ? 'ok' : { warning: `No process has the role ${missing.join(', ')} any more.` };
}

/** A server that is not available is no violation: a process that restarts during an outage has to start. */
async function checkTemporalConnection({ config, temporalConnection }: Installation): Promise<Finding> {
  const { TEMPORAL_API_KEY, TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT } = config;
  if ([TEMPORAL_API_KEY, TEMPORAL_TLS_CA, TEMPORAL_TLS_CERT].every((value) => value === undefined)) {
    return 'not applicable';
  }
  const failure = await temporalConnection();
  return okUnless(failure?.isCertificate ? `Temporal and this process do not connect: ${failure.message}.` : null);
}

async function checkPooler({ database, databaseError, databaseUrl }: Installation): Promise<Finding> {
  if (database !== null && databaseUrl !== undefined) return okUnless(await poolModeViolation(databaseUrl));
  const rejected = rejectedSetting(databaseError ?? '');
  if (rejected === null) return 'not applicable';
  return { violation: `The pooler at DATABASE_URL rejects the connection (${rejected}).` };
}

function checkSchema({ database }: Installation): Finding {
  if (database === null) return 'not applicable';
  const { missing } = database.schema;
  if (missing.length === 0) return 'ok';
  return { violation: `The database lacks migrations of this version (${missing.join(', ')}).` };
}

/** @param violationOf undefined: the rule does not apply */
async function withTables(
  { database }: Installation,
  violationOf: (db: Queryable) => Promise<string | null | undefined>,
): Promise<Finding> {
  if (database === null || database.schema.missing.length > 0) return 'not applicable';
  const violation = await violationOf(database.db);
  return violation === undefined ? 'not applicable' : okUnless(violation);
}

async function withProductionTables(
  installation: Installation,
  violationOf: (db: Queryable, installation: Installation) => Promise<string | null | undefined>,
): Promise<Finding> {
  const { environment, recordedEnvironment } = installation;
  if (![environment, recordedEnvironment].includes('production')) return 'not applicable';
  return withTables(installation, (db) => violationOf(db, installation));
}

function masterKeyViolation(db: Queryable, { masterKeys }: Installation): Promise<string | null> {
  return failureOf(async () => requireSealingKeys(db, await masterKeys()));
}

async function demoDataViolation(db: Queryable): Promise<string | null> {
  return (await hasDemoData(db)) ? 'The production database has the demo merchant, and it is approved.' : null;
}

/** Not applicable with the role of a process that reads no exceptions. */
async function stoppedAccountsViolation(db: Queryable): Promise<string | null | undefined> {
  const stopped = await listStoppedAccounts(db);
  if (stopped === undefined) return undefined;
  if (stopped.length === 0) return null;
  const causes = stopped.map(({ id, cause }) => `${id} (${cause})`).join(', ');
  return `Provider accounts are stopped and get no payments: ${causes}.`;
}

/** A merchant from before the rule takes payments until an operator sets it. */
async function feePayerViolation(db: Queryable): Promise<string | null> {
  const merchants = await listUnlawfulFeePayers(db);
  return merchants.length === 0 ? null : `Customers pay the fee of merchants that bear it: ${merchants.join(', ')}.`;
}

async function sandboxAccountsViolation(db: Queryable): Promise<string | null> {
  const enabled = (await listEnabledUrls(db)).filter(({ baseUrl }) => isSandboxUrl(baseUrl));
  if (enabled.length === 0) return null;
  return `Provider accounts of production are at a sandbox: ${enabled.map(({ id }) => id).join(', ')}.`;
}

/** Row-level security follows the membership in roles: with a second role, pages could read operators' logins. */
function dashboardRoleViolation(db: Queryable, { process }: Installation): Promise<string | null | undefined> {
  return ownRoleViolation(db, { role: 'lunas_dashboard', owner: 'the dashboard', isOwner: process === 'dashboard' });
}

/** With a role of its own, an attacker in another worker cannot call the bank. */
function payoutsRoleViolation(db: Queryable, installation: Installation): Promise<string | null | undefined> {
  return workerRoleViolation(db, installation, { role: 'lunas_payouts', owner: 'payouts' });
}

/** With a role of its own, what is compared cannot write that it was compared. */
function verifierRoleViolation(db: Queryable, installation: Installation): Promise<string | null | undefined> {
  return workerRoleViolation(db, installation, { role: 'lunas_verifier', owner: 'verifier' });
}

/** A worker with this role has no other one, and neither has its login. */
async function workerRoleViolation(
  db: Queryable,
  { process, config: { WORKER_ROLES: roles } }: Installation,
  { role, owner }: { readonly role: LunasRole; readonly owner: WorkerRole },
): Promise<string | null | undefined> {
  const isOwner = process === 'worker' && roles.includes(owner);
  if (isOwner && roles.length > 1) return `This worker has the role ${owner} beside other roles.`;
  return ownRoleViolation(db, { role, owner, isOwner });
}

/** What binds an operator is a trigger on their statements: a login that is a process's too could pass as its work. */
function operatorRoleViolation(db: Queryable): Promise<string | null | undefined> {
  return ownRoleViolation(db, { role: 'lunas_operator', owner: 'an operator', isOwner: false });
}

/** A database role for one process. Its login is a member of no other role of Lunas. */
interface OwnRole {
  readonly role: LunasRole;
  readonly owner: string;
  /** Whether the process that is checked needs the role. */
  readonly isOwner: boolean;
}

async function ownRoleViolation(db: Queryable, { role, owner, isOwner }: OwnRole): Promise<string | null | undefined> {
  const { login, bypassesPolicies, roles } = await readLoginRoles(db);
  if (!isOwner && (bypassesPolicies || !roles.includes(role))) return undefined;
  if (bypassesPolicies) return `The login role ${login} of ${owner} bypasses row-level security.`;
  if (!roles.includes(role)) return `The login role ${login} is no member of ${role}.`;
  const others = roles.filter((each) => each !== role);
  if (others.length === 0) return null;
  return `The login role ${login} of ${owner} is a member of other roles too: ${others.join(', ')}.`;
}

async function unprotectedTablesViolation(db: Queryable): Promise<string | null> {
  const tables = await listUnprotectedTables(db);
  return tables.length === 0 ? null : `Row-level security is off for ${tables.join(', ')}.`;
}

/** A passkey is of one host: browsers offer it to no other, and the dashboard accepts it at no other. */
async function checkPasskeyHost({ database, dashboardUrl }: Installation): Promise<Finding> {
  if (database === null || database.schema.missing.length > 0 || dashboardUrl === undefined) return 'not applicable';
  const hosts = await listPasskeyHosts(database.db);
  if (hosts === undefined) return 'not applicable';
  const { hostname } = new URL(dashboardUrl);
  const others = hosts.filter((host) => host !== hostname);
  if (others.length === 0) return 'ok';
  return { warning: `Passkeys of ${others.join(', ')} cannot be used: the host of DASHBOARD_URL is ${hostname}.` };
}

/** Null without an error. */
async function failureOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return sentenceOf(error);
  }
}

/** The first line of the error's message. */
function sentenceOf(error: unknown): string {
  return `${messageOf(error).split('\n')[0]?.replace(/\.$/, '')}.`;
}
