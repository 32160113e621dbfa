import { createPool, type Pool } from '../../../src/db/connection/pool';
import { recordHeartbeat } from '../../../src/db/transitions/role-heartbeats';
import type { ProcessRole } from '../../../src/domain/process-roles';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
let pools: Readonly<Record<'api' | 'dashboard' | 'worker' | 'payouts', Pool>>;

beforeAll(async () => {
  database = await createTestDatabase();
  const poolOf = (login: 'api' | 'dashboard' | 'worker' | 'payouts') =>
    createPool(database.urlOf(`lunas_local_${login}`), { max: 1 });
  pools = {
    api: poolOf('api'),
    dashboard: poolOf('dashboard'),
    worker: poolOf('worker'),
    payouts: poolOf('payouts'),
  };
});
afterAll(async () => {
  await Promise.all(Object.values(pools).map((pool) => pool.end()));
  await database.drop();
});

const OWN: readonly (readonly [keyof typeof pools, readonly ProcessRole[]])[] = [
  ['api', ['api']],
  ['dashboard', ['dashboard']],
  ['worker', ['payments', 'webhooks', 'relay', 'sweeper']],
  ['payouts', ['payouts']],
];

it.each(OWN)('a process of %s writes its own roles, as often as each of many processes', async (login, roles) => {
  await recordHeartbeat(pools[login], roles);
  const read = () =>
    pools[login].query('select role, seen_at from role_heartbeats where role = any ($1) order by role', [roles]);
  const { rows } = await read();
  expect(rows.map(({ role }) => role)).toEqual(roles.toSorted());
  await recordHeartbeat(pools[login], roles);
  expect((await read()).rows).toEqual(rows);
});

it.each(OWN)('attack: a process of %s cannot write that another role is there', async (login, roles) => {
  for (const [, others] of OWN.filter(([other]) => other !== login)) {
    await expect(recordHeartbeat(pools[login], others)).rejects.toMatchObject({ code: '42501' });
  }
  await expect(pools[login].query('delete from role_heartbeats')).rejects.toMatchObject({ code: '42501' });
  const { rowCount } = await pools[login].query("update role_heartbeats set seen_at = now() + interval '9 days'");
  expect(rowCount).toBe(roles.length);
});
