import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { OperatorActor } from '../../../src/domain/actor';
import { DeclaredAction } from '../../../src/domain/declared-action';
import { UserError } from '../../../src/errors';
import { withAudit } from '../../../src/services/audit/audit';
import { listActions } from '../../../src/services/audit/list-actions';
import { insertOperator } from '../../../src/services/identity/operators';
import { revokeKey } from '../../../src/services/merchants/keys/revoke-key';
import { pingEndpoint } from '../../../src/services/webhooks/ping-endpoint';
import { operatorOf, osUser } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';

const CLI = osUser('root');

let database: TestDatabase;
let db: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

it('records actor, action, target, time, note and outcome of each action', async () => {
  const dewi = operatorOf(await insertOperator(db, { name: 'dewi', environment: 'sandbox' }), 'api');
  expect(
    await withAudit({ db }, CLI, { action: revokeKey, target: 'K', note: 'leaked' }, () => Promise.resolve(7)),
  ).toBe(7);
  const rejected = withAudit({ db }, dewi, { action: new DeclaredAction('payment.settle'), target: 'P' }, () =>
    Promise.reject(new UserError('The delay is not over.')),
  );
  await expect(rejected).rejects.toThrow('The delay is not over.');
  const failed = withAudit({ db }, dewi, { action: new DeclaredAction('refund.retry'), target: 'P' }, () =>
    Promise.reject(new Error('no response')),
  );
  await expect(failed).rejects.toThrow('no response');

  const actions = await listActions(db, { limit: 10 });
  expect(actions).toMatchObject([
    {
      actor: 'operator:dewi',
      via: 'api',
      action: 'refund.retry',
      target: 'P',
      outcome: 'indeterminate',
      detail: 'no response',
    },
    { action: 'payment.settle', note: null, outcome: 'rejected', detail: 'The delay is not over.' },
    {
      actor: 'cli:root',
      via: 'cli',
      action: 'key.revoke',
      target: 'K',
      note: 'leaked',
      outcome: 'succeeded',
      detail: null,
    },
  ]);
  expect(Math.abs(Date.now() - (actions[0]?.requestedAt.getTime() ?? 0))).toBeLessThan(60_000);
  expect((await listActions(db, { target: 'P', limit: 1 })).map(({ action }) => action)).toEqual(['refund.retry']);
  expect((await listActions(db, { before: actions[1]?.id, limit: 9 })).map(({ action }) => action)).toEqual([
    'key.revoke',
  ]);
});

it('records the action before its execution, so that an action that ends with the process is recorded', async () => {
  let during: unknown;
  await withAudit({ db }, CLI, { action: pingEndpoint, target: 'E' }, async () => {
    during = await listActions(db, { limit: 1 });
  });
  expect(during).toMatchObject([{ action: 'webhook.ping', target: 'E', outcome: null, finishedAt: null }]);
});

it.each(['cli', 'api', 'console'] as const)('records the door through which an operator acts: %s', async (door) => {
  const { id, name } = await insertOperator(db, { name: 'dewi', environment: 'sandbox' });
  const dewi: OperatorActor = { kind: 'operator', name, door, operatorId: id, scopes: null };
  await withAudit({ db }, dewi, { action: pingEndpoint, target: 'E' }, () => Promise.resolve());
  expect(await listActions(db, { limit: 1 })).toMatchObject([{ actor: 'operator:dewi', via: door }]);
  const { rows } = await db.query('select operator_id from operator_actions');
  expect(rows).toEqual([{ operator_id: id }]);
});

it('records no action whose name is not declared', async () => {
  const work = jest.fn(() => Promise.resolve());
  // @ts-expect-error A text is no declared action.
  await expect(withAudit({ db }, CLI, { action: 'endpoint.ping', target: 'E' }, work)).rejects.toThrow('not-null');
  expect(work).not.toHaveBeenCalled();
});

it('an action that cannot be recorded is not executed', async () => {
  await db.query('alter table operator_actions rename to away');
  const work = jest.fn(() => Promise.resolve());
  await expect(withAudit({ db }, CLI, { action: pingEndpoint, target: 'E' }, work)).rejects.toThrow('operator_actions');
  expect(work).not.toHaveBeenCalled();
});

it('returns the result of the action if its outcome cannot be recorded', async () => {
  const done = await withAudit({ db }, CLI, { action: pingEndpoint, target: 'E' }, async () => {
    await db.query('alter table operator_action_outcomes rename to away');
    return 'done';
  });
  expect(done).toBe('done');
});

it.each(['operator_actions', 'operator_action_outcomes'])('%s is append-only', async (table) => {
  await withAudit({ db }, CLI, { action: pingEndpoint, target: 'E' }, () => Promise.resolve());
  const statements = [
    `update ${table} set ${table === 'operator_actions' ? 'note' : 'detail'} = 'x'`,
    `delete from ${table}`,
  ];
  for (const statement of statements) {
    await expect(db.query(statement)).rejects.toThrow(`${table} is append-only`);
  }
  await expect(db.query('truncate operator_actions, operator_action_outcomes')).rejects.toThrow('is append-only');
});
