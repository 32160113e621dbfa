import { ArchivedError, codeOf, messageOf, NotFoundError, UserError } from '../src/errors';

test('messageOf returns the message, or the name of an error without one, or the text of another value', () => {
  expect(messageOf(new Error('broken'))).toBe('broken');
  expect(messageOf(new TypeError(''))).toBe('TypeError');
  expect(messageOf('text')).toBe('text');
  expect(messageOf(undefined)).toBe('undefined');
});

test('codeOf returns the code of Node.js and PostgreSQL errors, and undefined for other values', () => {
  expect(codeOf(Object.assign(new Error('x'), { code: '42P01' }))).toBe('42P01');
  expect(codeOf({ code: 7 })).toBeUndefined();
  expect(codeOf(new Error('x'))).toBeUndefined();
  expect(codeOf(null)).toBeUndefined();
});

test('a NotFoundError is a UserError that names the object, without a command', () => {
  const error = new NotFoundError('providerAccount', 'a1');
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ kind: 'providerAccount', id: 'a1', message: 'There is no provider account a1.' });
});

test('an ArchivedError is a NotFoundError of a payment, with the file that has it', () => {
  const error = new ArchivedError('LN1', 'a.jsonl.gz');
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({
    kind: 'payment',
    file: 'a.jsonl.gz',
    message: 'Payment LN1 is in the archive: a.jsonl.gz.',
  });
});
