import {
  assert,
  check,
  constant,
  constantFrom,
  oneof,
  property,
  record,
  string,
  uuid,
  type Arbitrary,
} from 'fast-check';
import {
  actorText,
  operatorIdOf,
  parseActor,
  requesterOf,
  SYSTEM_NAMES,
  toStepActor,
  type ActorIdentity,
} from '../../src/domain/actor';
import type { PaymentAction } from '../../src/domain/payment-actions';
import { actorRejection } from '../../src/domain/update-arguments';
import { memberOf, operatorOf, osUser } from '../support/actors';

const notEmpty = string({ minLength: 1 });
const identities: Arbitrary<ActorIdentity> = oneof(
  record({ kind: constantFrom('operator', 'os_user'), name: notEmpty }),
  record({ kind: constantFrom('merchant_user', 'api_key'), id: oneof(notEmpty, uuid()) }),
  record({ kind: constant('system'), name: constantFrom(...SYSTEM_NAMES) }),
);

describe('the text of an actor', () => {
  it('names the same actor when it is read again', () => {
    assert(property(identities, (actor) => expect(parseActor(actorText(actor))).toEqual(actor)));
  });

  it('belongs to one actor only', () => {
    assert(
      property(identities, identities, (one, other) => {
        expect(actorText(one) === actorText(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it('the text of an actor is the only text that is read as that actor', () => {
    const prefixes = constantFrom('', 'operator', 'operator:', 'cli:', 'user:', 'key:', 'KEY:', ' key:', 'merchant:');
    const isReadBack = property(prefixes, string(), (prefix, rest) => {
      const actor = parseActor(prefix + rest);
      return actor === undefined || actorText(actor) === prefix + rest;
    });
    expect(check(isReadBack)).toMatchObject({ failed: false });
  });

  it.each([
    ['operator:dewi', { kind: 'operator', name: 'dewi' }],
    ['cli:root', { kind: 'os_user', name: 'root' }],
    ['cli:ACME\\budi:2', { kind: 'os_user', name: 'ACME\\budi:2' }],
    ['user:01a20ff4', { kind: 'merchant_user', id: '01a20ff4' }],
    ['key:01a20ff4', { kind: 'api_key', id: '01a20ff4' }],
    ['workflow', { kind: 'system', name: 'workflow' }],
    ['provider', { kind: 'system', name: 'provider' }],
    ['merchant', { kind: 'system', name: 'merchant' }],
    ['operator', { kind: 'system', name: 'operator' }],
    ['worker', { kind: 'system', name: 'worker' }],
    ['operator:', undefined],
    ['merchant:x', undefined],
    [':', undefined],
    ['dewi', undefined],
    ['', undefined],
  ])('%j', (text, actor) => {
    expect(parseActor(text)).toEqual(actor);
  });

  it('the text of an operator has neither the door nor the row', () => {
    const dewi = { kind: 'operator', name: 'dewi', door: 'console', operatorId: 'O', scopes: null } as const;
    expect(toStepActor(dewi, 'ticket 7')).toEqual({ name: 'operator:dewi', note: 'ticket 7' });
    expect(toStepActor(dewi)).toEqual({ name: 'operator:dewi' });
    expect(operatorIdOf(dewi)).toBe('O');
    expect(operatorIdOf({ kind: 'os_user', name: 'root', door: 'cli' })).toBeUndefined();
  });
});

describe('who may request an action', () => {
  const MERCHANTS = ['user:U', 'key:K', 'merchant'];
  const OPERATORS = ['operator:dewi', 'cli:root'];
  const NONE = ['workflow', 'worker', 'provider', 'operator', 'user:', 'key:', 'merchant:K', 'dewi', ''];
  const allowedFor = (action: PaymentAction) =>
    [...MERCHANTS, ...OPERATORS, ...NONE].filter((name) => actorRejection(action, { name }) === null);

  it('merchants and operators cancel and refund; only operators settle and resolve', () => {
    expect(allowedFor('cancel')).toEqual([...MERCHANTS, ...OPERATORS]);
    expect(allowedFor('refund')).toEqual([...MERCHANTS, ...OPERATORS]);
    expect(allowedFor('settle')).toEqual(OPERATORS);
    expect(allowedFor('resolveRefundAsPaid')).toEqual(OPERATORS);
  });

  it.each([
    ['no actor', null],
    ['no object', 'key:K'],
    ['no name', { note: 'x' }],
    ['a further field', { name: 'user:U', paymentId: 'P' }],
    ['a name that is no text', { name: ['user:U'] }],
    ['a name that is too long', { name: `user:${'U'.repeat(300)}` }],
    ['a note that is no text', { name: 'user:U', note: 7 }],
  ])('a request for an action is rejected: %s', (_, actor) => {
    expect(actorRejection('cancel', actor)).not.toBeNull();
  });
});

describe('the requester of what a person does', () => {
  it('the requester is the operator whose request another one approves', () => {
    const approval = { id: 7, requestedBy: 'dewi', parameters: {}, expectedVersion: null };
    expect(requesterOf({ ...operatorOf({ id: '1', name: 'budi' }), approval })).toEqual({
      kind: 'operator',
      name: 'dewi',
    });
  });

  it('the requester without an approval is the person who acts', () => {
    const people = [
      osUser('sari'),
      operatorOf({ id: '1', name: 'budi' }),
      memberOf({ userId: 'u', merchantId: 'm', role: 'owner' }),
    ];
    expect(people.map(requesterOf)).toEqual(people);
  });
});
