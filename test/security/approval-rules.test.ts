import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createPool, type Pool } from '../../src/db/connection/pool';
import type { OperatorActor } from '../../src/domain/actor';
import { ConflictError } from '../../src/errors';
import type { AuditDependencies } from '../../src/services/audit/audit';
import { listApprovals } from '../../src/services/audit/list-approvals';
import { insertOperator } from '../../src/services/identity/operators';
import { Operation } from '../../src/services/operations/operation';
import { done, rejected } from '../../src/services/operations/rejections';
import { operatorOf } from '../support/actors';
import { asSuperuser } from '../support/backdate';
import { createProductionDatabase, type TestDatabase } from '../support/database';

const input = z.object({ rupiah: z.int().nullable(), merchant: z.uuid(), isPossible: z.boolean().default(true) });

/** Sends money to a merchant, up to the rule that a test gives it. */
const sendGift = new Operation({
  name: 'gift.send',
  operator: 'all',
  path: z.object({}),
  input,
  rejections: { impossible: {} },
  messages: { impossible: () => 'It is not possible.' },
  load: ({ db: _db }: AuditDependencies) => Promise.resolve({}),
  target: () => 'gift',
  approval: {
    executes: 'database',
    amountRupiah: ({ input: { rupiah } }) => rupiah,
    merchantId: (_subject, { merchant }) => merchant,
  },
  perform: ({ input: { isPossible } }) =>
    Promise.resolve(isPossible ? done('sent') : rejected({ reason: 'impossible' })),
});

/** Shows personal data, some times a day. */
const showGift = new Operation({
  name: 'gift.show',
  operator: 'all',
  path: z.object({}),
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db: _db }: AuditDependencies) => Promise.resolve({}),
  target: () => 'gift',
  perform: () => Promise.resolve(done('shown')),
});

/** Locks a gift with a code, which only its hash stands for in the request. */
const lockGift = new Operation({
  name: 'gift.lock',
  operator: 'all',
  path: z.object({}),
  input: z.object({ code: z.string().meta({ isSecret: true }) }),
  rejections: {},
  messages: {},
  load: ({ db: _db }: AuditDependencies) => Promise.resolve({}),
  target: () => 'gift',
  approval: {
    executes: 'database',
    propose: ({ needs, input: { code } }) =>
      code === ''
        ? null
        : {
            parameters: { hash: `${code.length} characters` },
            async store() {
              if (code === 'taken') throw new ConflictError('not_allowed', 'Another gift has this code.');
              await needs.db.query('create table codes as select action from operator_actions');
            },
          },
  },
  perform: () => Promise.resolve(done('locked')),
});

let database: TestDatabase;
let db: Pool;
let merchant: string;
let [dewi, budi]: OperatorActor[] = [];

beforeEach(async () => {
  database = await createProductionDatabase();
  db = createPool(database.url, { max: 8 });
  merchant = randomUUID();
  [dewi, budi] = await Promise.all(['dewi', 'budi'].map(operator));
  await db.query(
    `insert into approval_rules (action, item_rupiah, operator_day_rupiah, merchant_day_rupiah, operator_day_count)
     values ('gift.send', 5000000, 25000000, 25000000, null), ('gift.show', null, null, null, 20)`,
  );
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

async function operator(name: string): Promise<OperatorActor> {
  return operatorOf(await insertOperator(db, { name, environment: 'production' }));
}

async function send(by = dewi, chosen: Partial<z.input<typeof input>> = {}, through = db): Promise<string> {
  if (by === undefined) throw new Error('there is no operator');
  const call = { path: {}, input: { rupiah: 4_900_000, merchant, ...chosen }, formId: randomUUID(), note: 'thanks' };
  return (await sendGift.run({ db: through }, by, call)).outcome;
}

const times = (count: number, work: () => Promise<string>) => Promise.all(Array.from({ length: count }, work));
const countOf = (outcomes: readonly string[], wanted: string) => outcomes.filter((each) => each === wanted).length;

it('100 acts just below the limit by one operator at the same time end at the limit of the day', async () => {
  const outcomes = await times(100, () => send());
  expect([countOf(outcomes, 'done'), countOf(outcomes, 'waits')]).toEqual([5, 95]);
  const { rows } = await db.query(
    "select sum(amount_rupiah)::integer as rupiah from operator_actions where action = 'gift.send'",
  );
  expect(rows).toEqual([{ rupiah: 24_500_000 }]);
});

it('several operators together end at the limit of the merchant', async () => {
  const outcomes = await Promise.all([dewi, budi, dewi, budi, dewi, budi].map((by) => send(by)));
  expect(countOf(outcomes, 'done')).toBe(5);
  expect(await send(budi, { merchant: randomUUID() })).toBe('done');
});

it('one act above the limit, or of an amount that is not known, waits for a second operator', async () => {
  expect(await send(dewi, { rupiah: 5_000_001 })).toBe('waits');
  expect(await send(dewi, { rupiah: null })).toBe('waits');
  expect(await send(dewi, { rupiah: 5_000_000 })).toBe('done');
  expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toMatchObject([
    { action: 'gift.send', amountRupiah: null },
    { action: 'gift.send', amountRupiah: 5_000_001 },
  ]);
});

it('an act that the API has rejected does not count, and one of yesterday neither', async () => {
  const api = createPool(database.urlOf('lunas_local_api'), { max: 1 });
  for (let act = 1; act <= 9; act += 1) expect(await send(dewi, { isPossible: false }, api)).toBe('rejected');
  await api.end();
  expect(countOf(await times(6, () => send()), 'done')).toBe(5);
  await asSuperuser(db, "update operator_actions set requested_at = requested_at - interval '25 hours'");
  expect(await send()).toBe('done');
});

it.each(['lunas_local_api', 'lunas_local_operator'] as const)(
  'an outcome that an operator writes does not take an act of %s out of the count',
  async (login) => {
    const beginners = createPool(database.urlOf(login), { max: 1 });
    const operators = createPool(database.urlOf('lunas_local_operator'), { max: 1 });
    const act = { actor: 'operator:dewi', via: 'cli', action: 'gift.send', target: 'x', amount_rupiah: 4_900_000 };
    const begin = async () => {
      const text = 'select id from begin_operator_action(jsonb_populate_record(null::operator_actions, $1), true)';
      return (await beginners.query<{ id: number | null }>(text, [JSON.stringify(act)])).rows[0]?.id ?? null;
    };
    for (let done = 0; done < 5; done += 1) {
      const insert = "insert into operator_action_outcomes (action_id, outcome) values ($1, 'rejected')";
      await operators.query(insert, [await begin()]);
    }
    expect(await begin()).toBeNull();
    await Promise.all([beginners.end(), operators.end()]);
  },
);

it('all keys of one login of PostgreSQL are one operator', async () => {
  const script = await operator('dewi-script');
  await asSuperuser(
    db,
    `update operators set login = 'dewi', scopes = case when name <> 'dewi' then array['settle'] end
     where name like 'dewi%'`,
  );
  const outcomes = [...(await times(3, () => send())), ...(await times(3, () => send(script)))];
  expect(countOf(outcomes, 'done')).toBe(5);
  expect(await send(budi, { merchant: randomUUID() })).toBe('done');
});

it('what an operator does too often in a day is left to another one', async () => {
  const show = async (by: OperatorActor) => {
    const result = await showGift.run({ db }, by, { path: {}, input: {}, formId: randomUUID(), note: 'asked' });
    return result.outcome === 'rejected' ? result.rejection.reason : result.outcome;
  };
  if (dewi === undefined || budi === undefined) throw new Error('there is no operator');
  const [one, other] = [dewi, budi];
  const outcomes = await times(25, () => show(one));
  expect([countOf(outcomes, 'done'), countOf(outcomes, 'day_limit')]).toEqual([20, 5]);
  expect(await show(other)).toBe('done');
});

it('what must not stand in a request is stored beside it, after the row of the audit log', async () => {
  if (dewi === undefined) throw new Error('there is no operator');
  const by = dewi;
  const lock = (code: string) =>
    lockGift.run({ db }, by, { path: {}, input: { code }, formId: randomUUID(), note: 'for Sri' });
  expect(await lock('4711')).toMatchObject({ outcome: 'waits' });
  expect((await db.query('select action from codes')).rows).toEqual([{ action: 'approval.request' }]);
  await expect(lock('taken')).rejects.toThrow('Another gift');
  expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toMatchObject([
    { action: 'gift.lock', parameters: { hash: '4 characters' } },
  ]);
  const { rows } = await db.query(
    `select action, operator_actions.detail, outcome
     from operator_actions join operator_action_outcomes on action_id = id order by id`,
  );
  expect(rows).toEqual([
    { action: 'approval.request', detail: '{"action":"gift.lock","hash":"4 characters"}', outcome: 'succeeded' },
    { action: 'approval.request', detail: '{"action":"gift.lock","hash":"5 characters"}', outcome: 'rejected' },
  ]);
  expect(await lock('')).toMatchObject({ outcome: 'waits' });
  expect((await listApprovals(db, { onlyOpen: true, limit: 9 }))[0]).toMatchObject({ parameters: {} });
});

it.each([
  ['gift.send', 5_000_000, true],
  ['gift.send', 5_000_001, false],
  ['gift.send', null, false],
  ['gift.show', 9_000_000_000, true],
  ['gift.wrap', 1, null],
] as const)('%s of %p rupiah by one operator is within its rule: %p', async (action, rupiah, isWithin) => {
  const { rows } = await db.query('select is_within_item_limit($1, $2) as it', [action, rupiah]);
  expect(rows).toEqual([{ it: isWithin }]);
});

it('a role cannot write a row of the audit log without the count', async () => {
  const api = createPool(database.urlOf('lunas_local_api'), { max: 1 });
  await expect(
    api.query("insert into operator_actions (actor, via, action, target) values ('cli:eve', 'cli', 'gift.send', 'x')"),
  ).rejects.toThrow('permission denied');
  await api.end();
});
