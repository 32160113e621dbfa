import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { MemberActor, Person, Scope } from '../../../src/domain/actor';
import { NotFoundError } from '../../../src/errors';
import type { AuditDependencies } from '../../../src/services/audit/audit';
import { insertMerchant } from '../../../src/services/merchants/merchants';
import { Operation } from '../../../src/services/operations/operation';
import { done, notKnown, rejected } from '../../../src/services/operations/rejections';
import { memberOf, operatorOf, osUser } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { createMember } from '../../support/people';

let database: TestDatabase;
let db: Pool;
let merchantId: string;
let owner: MemberActor;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
  const merchant = { name: 'Toko Maju', feePayer: 'merchant', providers: ['gopay'], approve: true } as const;
  merchantId = (await insertMerchant(db, merchant)).id;
  const userId = await createMember(db, 'owner@shop.test', [[merchantId, 'owner']]);
  owner = memberOf({ userId, merchantId, role: 'owner' });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** What the operation below has done, in order. */
let steps: string[];
beforeEach(() => {
  steps = [];
});

interface Door {
  readonly merchantId: string;
  readonly isLocked: boolean;
}

const MEMBER = { area: 'developers', level: 'manage', stepUp: true } as const;

/** An operation that records each of its steps. */
const paintDoor = new Operation({
  name: 'door.paint',
  member: MEMBER,
  operator: 'all',
  path: z.object({ door: z.uuid() }),
  input: z.object({ colour: z.enum(['red', 'blue', 'none']) }),
  rejections: { locked: {}, colour_missing: { colours: z.array(z.string()) } },
  messages: {
    locked: () => 'The door is locked.',
    colour_missing: ({ colours }) => `Choose one of ${colours.join(', ')}.`,
  },
  load(_: AuditDependencies, scope: Scope, { door }): Promise<Door> {
    steps.push('load');
    if (door === UNKNOWN) return Promise.reject(new NotFoundError('key', door));
    const owned = scope === 'all' ? merchantId : scope.merchantId;
    return Promise.resolve({ merchantId: owned, isLocked: door === LOCKED });
  },
  target: ({ subject, input }) => `${subject.merchantId} ${input.colour}`,
  allows({ isLocked }) {
    steps.push('allows');
    return isLocked ? { reason: 'locked' } : null;
  },
  earlier({ formId }) {
    steps.push('earlier');
    return Promise.resolve(formId === REPEATED ? 'painted before' : null);
  },
  async perform({ needs, input }) {
    const { rows } = await needs.db.query('select from operator_actions union all select from user_actions');
    steps.push(`perform after ${rows.length} audit rows`);
    if (input.colour === 'none') return rejected({ reason: 'colour_missing', colours: ['red', 'blue'] });
    if (input.colour === 'blue') throw new Error('the paint is away');
    return done('painted');
  },
});

const UNKNOWN = randomUUID();
const LOCKED = randomUUID();
const REPEATED = randomUUID();

function paint(by: Person, { door = randomUUID(), colour = 'red', formId = randomUUID() } = {}) {
  const parsed = z.enum(['red', 'blue', 'none']).parse(colour);
  return paintDoor.run({ db }, by, { path: { door }, input: { colour: parsed }, formId, note: 'spring' });
}

async function recorded(table: 'operator' | 'user') {
  const { rows } = await db.query(
    `select actor, action, target, ${table}_actions.detail, outcome, ${table}_action_outcomes.detail as reason
     from ${table}_actions left join ${table}_action_outcomes on action_id = id order by id`,
  );
  return rows;
}
const newestOf = async (table: 'operator' | 'user') => (await recorded(table)).at(-1);

describe('run', () => {
  it('an act is performed once, after the audit row of its log, whose outcome follows', async () => {
    const before = (await recorded('user')).length + (await recorded('operator')).length;
    expect(await paint(owner)).toEqual({ outcome: 'done', value: 'painted', isRepeat: false });
    expect(steps).toEqual(['load', 'earlier', 'allows', `perform after ${before + 1} audit rows`]);
    expect(await newestOf('user')).toMatchObject({
      actor: `user:${owner.id}`,
      action: 'door.paint',
      target: `${merchantId} red`,
      outcome: 'succeeded',
      reason: null,
    });
    expect(await paint(osUser('root'))).toMatchObject({ outcome: 'done' });
    expect(await newestOf('operator')).toMatchObject({ actor: 'cli:root', action: 'door.paint', outcome: 'succeeded' });
  });

  it('the audit row has the path and the input of the act', async () => {
    const door = randomUUID();
    await paint(owner, { door });
    const { detail } = z.object({ detail: z.string() }).parse(await newestOf('user'));
    expect(JSON.parse(detail)).toEqual({ door, colour: 'red' });
  });

  it('a form that was executed before has its value, and allows is not asked', async () => {
    const before = await recorded('user');
    expect(await paint(owner, { formId: REPEATED, door: LOCKED })).toEqual({
      outcome: 'done',
      value: 'painted before',
      isRepeat: true,
    });
    expect(steps).toEqual(['load', 'earlier']);
    expect(await recorded('user')).toEqual(before);
  });

  it('an object that does not allow the act is left alone, without an audit row', async () => {
    const before = await recorded('user');
    expect(await paint(owner, { door: LOCKED })).toEqual({
      outcome: 'rejected',
      rejection: { reason: 'locked' },
      message: 'The door is locked.',
    });
    expect(steps).toEqual(['load', 'earlier', 'allows']);
    expect(await recorded('user')).toEqual(before);
  });

  it('a rejection of perform is in the audit log with its sentence', async () => {
    const rejection = { reason: 'colour_missing', colours: ['red', 'blue'] };
    expect(await paint(owner, { colour: 'none' })).toMatchObject({ outcome: 'rejected', rejection });
    expect(await newestOf('user')).toMatchObject({ outcome: 'rejected', reason: 'Choose one of red, blue.' });
  });

  it('an error of perform is thrown, and the outcome is indeterminate', async () => {
    await expect(paint(owner, { colour: 'blue' })).rejects.toThrow('the paint is away');
    expect(await newestOf('user')).toMatchObject({ outcome: 'indeterminate', reason: 'the paint is away' });
  });

  it('an object that the person does not reach is not found, before every other reason', async () => {
    const viewer: MemberActor = { ...owner, role: 'viewer' };
    await expect(paint(viewer, { door: UNKNOWN })).rejects.toThrow(UNKNOWN);
    expect(steps).toEqual(['load']);
  });

  it('a member with another role is rejected with the roles that may do it', async () => {
    const rejection = { reason: 'role', roles: ['owner', 'developer'] };
    expect(await paint({ ...owner, role: 'finance' })).toMatchObject({ outcome: 'rejected', rejection });
    expect(steps).toEqual(['load']);
  });

  it.each(['pending', 'suspended'] as const)('a member of a merchant that is %s does nothing', async (state) => {
    expect(await paint({ ...owner, merchantState: state })).toMatchObject({
      outcome: 'rejected',
      rejection: { reason: 'merchant_state', state },
    });
    expect(steps).toEqual(['load']);
  });

  it('an operation that takes rights away is performed while the merchant is suspended', async () => {
    const lockDoor = new Operation({
      name: 'door.lock',
      member: { ...MEMBER, whileSuspended: true },
      path: z.object({}),
      input: z.object({}),
      rejections: {},
      messages: {},
      load: (needs: AuditDependencies) => Promise.resolve(needs),
      target: () => merchantId,
      perform: () => Promise.resolve(done('locked')),
    });
    const call = { path: {}, input: {}, formId: randomUUID() };
    expect(await lockDoor.run({ db }, { ...owner, merchantState: 'suspended' }, call)).toMatchObject({
      value: 'locked',
    });
    expect(await lockDoor.run({ db }, osUser('root'), call)).toMatchObject({
      outcome: 'rejected',
      rejection: { reason: 'actor' },
    });
  });

  it('an act whose outcome is not known is neither done nor rejected, and the log has why', async () => {
    const error = new Error('no response from the painter');
    const orderPaint = new Operation({
      name: 'paint.order',
      member: MEMBER,
      path: z.object({}),
      input: z.object({ colour: z.string(), address: z.string() }),
      rejections: {},
      messages: {},
      load: (needs: AuditDependencies) => Promise.resolve(needs),
      target: () => merchantId,
      detail: ({ by, input: { colour } }) => ({ colour, by: by.kind }),
      perform: () => Promise.resolve(notKnown(error)),
    });
    const warn = jest.fn();
    const needs = { db, log: { error: jest.fn(), warn } };
    const call = { path: {}, input: { colour: 'red', address: 'a secret one' }, formId: randomUUID() };
    expect(await orderPaint.run(needs, owner, call)).toEqual({ outcome: 'unknown', error });
    expect(await newestOf('user')).toMatchObject({
      outcome: 'indeterminate',
      reason: 'no response from the painter',
      detail: '{"colour":"red","by":"merchant_user"}',
    });
    const fields = { err: error, action: 'paint.order', target: merchantId };
    expect(warn).toHaveBeenCalledWith(fields, 'outcome of an operation not known');
  });

  it('a secret of the input is in no log, and allows and perform have it, with the person and the note', async () => {
    const openSafe = new Operation({
      name: 'safe.open',
      operator: 'all',
      path: z.object({}),
      input: z.object({ code: z.string().optional().meta({ isSecret: true }), floor: z.int() }),
      rejections: { wrong_code: {} },
      messages: { wrong_code: () => 'The code is wrong.' },
      load: (_: AuditDependencies, _scope, _path, by) => Promise.resolve({ owner: by.kind }),
      target: ({ subject }) => subject.owner,
      allows: (_, _by, input) => (input?.code === '4711' ? null : { reason: 'wrong_code' }),
      perform: ({ input, note }) => Promise.resolve(done(`${input.code}, ${note}`)),
    });
    const open = (code: string) =>
      openSafe.run({ db }, osUser('root'), { path: {}, input: { code, floor: 2 }, formId: randomUUID(), note: 'fire' });
    expect(await open('1234')).toMatchObject({ outcome: 'rejected', rejection: { reason: 'wrong_code' } });
    expect(await open('4711')).toMatchObject({ outcome: 'done', value: '4711, fire' });
    expect(await newestOf('operator')).toMatchObject({ target: 'os_user', detail: '{"floor":2}' });
  });

  it('an act without the audit log is not performed', async () => {
    await db.query('alter table user_actions rename to away');
    try {
      await expect(paint(owner)).rejects.toThrow('user_actions');
      expect(steps).toEqual(['load', 'earlier', 'allows']);
    } finally {
      await db.query('alter table away rename to user_actions');
    }
  });
});

describe('preview', () => {
  it('the object and the reason above the button are what run would find', async () => {
    const preview = (by: Person, door: string) => paintDoor.preview({ db }, by, { door });
    expect(await preview(owner, randomUUID())).toEqual({ subject: { merchantId, isLocked: false }, rejection: null });
    expect(await preview(owner, LOCKED)).toMatchObject({ rejection: { reason: 'locked' } });
    expect(await preview({ ...owner, role: 'viewer' }, LOCKED)).toMatchObject({ rejection: { reason: 'role' } });
    await expect(preview(owner, UNKNOWN)).rejects.toThrow(NotFoundError);
  });

  it("an operator's key with scopes does what they name, and nothing that needs a key without them", async () => {
    const lockDoor = new Operation({
      name: 'door.lock',
      operator: 'settle',
      path: z.object({}),
      input: z.object({}),
      rejections: {},
      messages: {},
      load: (needs: AuditDependencies) => Promise.resolve(needs),
      target: () => 'door',
      perform: () => Promise.resolve(done(null)),
    });
    const dewi = operatorOf({ id: randomUUID(), name: 'dewi' });
    const [settles, reads] = [{ ...dewi, scopes: ['settle'] } as const, { ...dewi, scopes: ['read'] } as const];
    const rejectionOf = async (by: Person) => (await lockDoor.preview({ db }, by, {})).rejection;
    expect([await rejectionOf(dewi), await rejectionOf(settles)]).toEqual([null, null]);
    expect(await rejectionOf(reads)).toEqual({ reason: 'scope', scope: 'settle' });
    const call = { path: {}, input: {}, formId: randomUUID() };
    expect(await lockDoor.run({ db }, reads, call)).toMatchObject({
      outcome: 'rejected',
      message: 'The key does not have the scope "settle".',
    });
    const painted = await paintDoor.preview({ db }, settles, { door: randomUUID() });
    expect(painted.rejection).toEqual({ reason: 'scope', scope: 'all' });
  });
});

describe('the declaration of an operation', () => {
  it('an operation without an actor does not compile', () => {
    const rest = {
      path: z.object({}),
      input: z.object({}),
      rejections: {},
      messages: {},
      load: () => Promise.resolve(null),
      target: () => 'T',
      perform: () => Promise.resolve(done(null)),
    };
    // @ts-expect-error Neither members nor operators may perform it.
    expect(new Operation({ name: 'door.open', ...rest }).isForOperators).toBe(false);
  });

  it('a door cannot call perform', () => {
    // @ts-expect-error It is private.
    expect(paintDoor.perform).toBeUndefined();
    expect(JSON.stringify(paintDoor)).toBe('{}');
  });
});
