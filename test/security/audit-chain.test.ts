import { createPool, type Pool } from '../../src/db/connection/pool';
import type { OperatorActor } from '../../src/domain/actor';
import { withAudit } from '../../src/services/audit/audit';
import { verifyAudit } from '../../src/services/audit/verify-audit';
import { pingEndpoint } from '../../src/services/webhooks/ping-endpoint';
import { runLunas } from '../cli/run-lunas';
import { osUser } from '../support/actors';
import { createTestDatabase, type TestDatabase } from '../support/database';

const ACTIONS = 12;

let database: TestDatabase;
let db: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
  // At the same time: the chain has to be correct with concurrent writers.
  await Promise.all(Array.from({ length: ACTIONS }, (_, number) => act(`E${number}`)));
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

const ROOT = osUser('root');

function act(target: string, actor: OperatorActor = ROOT): Promise<void> {
  const note = 'a "quoted" note\twith é, \\ and 😀';
  return withAudit({ db }, actor, { action: pingEndpoint, target, note }, () => Promise.resolve());
}

/** As the owner of the tables, who can disable their triggers. */
async function asOwner(table: string, statement: string): Promise<void> {
  await db.query(`alter table ${table} disable trigger user; ${statement}; alter table ${table} enable trigger user`);
}

const verify = (...args: string[]) => runLunas(['audit', 'verify', ...args], { DATABASE_URL: database.url });

it('attack: a role that only reads cannot stop an audited act', async () => {
  const reader = createPool(database.urlOf('lunas_local_reader'), { max: 1 });
  const client = await reader.connect();
  try {
    await client.query("begin; select pg_advisory_xact_lock(hashtext('audit_chain'))");
    for (const statement of [
      'select from audit_chain_lock for update',
      'lock table audit_chain_lock',
      'lock table audit_chain in share mode',
      'lock table operator_actions in share mode',
    ]) {
      await client.query('savepoint attack');
      await expect(client.query(statement)).rejects.toThrow('permission denied');
      await client.query('rollback to attack');
    }
    await client.query('lock table audit_chain in access share mode');
    const writer = createPool(database.urlOf('lunas_local_operator'), { max: 1, statementTimeoutMs: 2_000 });
    try {
      await withAudit({ db: writer }, ROOT, { action: pingEndpoint, target: 'E' }, () => Promise.resolve());
    } finally {
      await writer.end();
    }
  } finally {
    client.release(true);
    await reader.end();
  }
});

it('accepts a log that concurrent writers wrote', async () => {
  expect(await verifyAudit(db)).toEqual({
    entries: 2 * ACTIONS,
    head: expect.stringMatching(/^[0-9a-f]{64}$/),
    breaks: [],
  });
  expect(await verify()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('No breaks.') });
});

it.each([
  ['changed note', 'operator_actions', "update operator_actions set note = 'x' where id = 5", 'action 5', 'changed'],
  [
    'changed actor',
    'operator_actions',
    "update operator_actions set actor = 'cli:b' where id = 5",
    'action 5',
    'changed',
  ],
  [
    'changed outcome',
    'operator_action_outcomes',
    "update operator_action_outcomes set outcome = 'rejected' where action_id = 5",
    'outcome 5',
    'changed',
  ],
  [
    'deleted outcome',
    'operator_action_outcomes',
    'delete from operator_action_outcomes where action_id = 5',
    'outcome 5',
    'missing',
  ],
  [
    'inserted action',
    'operator_actions',
    "insert into operator_actions (actor, via, action, target) values ('cli:b', 'cli', 'webhook.ping', 'E')",
    `action ${ACTIONS + 1}`,
    'inserted',
  ],
  ['deleted entry', 'audit_chain', 'delete from audit_chain where position = 3', 'entry 3', 'missing'],
])('finds a %s and names it', async (_, table, statement, row, kind) => {
  await asOwner(table, statement);
  const { exitCode, stdout, stderr } = await verify('--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('hash chain') });
  expect(JSON.parse(stdout).audit.breaks).toContainEqual({ kind, row });
});

it('finds that the newest entries were deleted, if an earlier head is given', async () => {
  const { head } = await verifyAudit(db);
  await act('E12');
  expect(await verify('--head', String(head))).toMatchObject({ exitCode: 0 });
  await asOwner('audit_chain', `delete from audit_chain where position >= ${2 * ACTIONS}`);
  expect(await verify('--head', String(head))).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(String(head)),
  });
});

it('rejects changes of the chain', async () => {
  for (const statement of ["update audit_chain set hash = ''", 'delete from audit_chain', 'truncate audit_chain']) {
    await expect(db.query(statement)).rejects.toThrow('audit_chain is append-only');
  }
});

it('logs an error if the outcome of an action cannot be recorded', async () => {
  const error = jest.fn();
  await withAudit({ db, log: { error, warn: jest.fn() } }, ROOT, { action: pingEndpoint, target: 'E' }, async () => {
    await db.query('alter table operator_action_outcomes rename to away');
  });
  const fields = { err: expect.any(Error), actionId: ACTIONS + 1, outcome: 'succeeded' };
  expect(error).toHaveBeenCalledWith(fields, 'outcome of an operator action not recorded');
});
