import { codeOf, messageOf, NotFoundError, UserError } from '../src/errors';

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

test('a NotFoundError is a UserError', () => {
  expect(new NotFoundError('no such merchant')).toBeInstanceOf(UserError);
});
