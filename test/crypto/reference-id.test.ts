import { randomUUID } from 'node:crypto';
import { referenceIdOf, referencePattern } from '../../src/crypto/reference-id';

it('a reference begins with its kind and the cell, and is the same for the same id', () => {
  const id = randomUUID();
  const reference = referenceIdOf('LN', '07', id);
  expect(reference).toMatch(/^LN07[0-9A-HJKMNP-TV-Z]{16}$/);
  expect(referenceIdOf('LN', '07', id)).toBe(reference);
  expect(referenceIdOf('LP', '07', id).slice(2)).toBe(reference.slice(2));
});

it.each([
  ['LN07A1B2C3D4E5F6G7H8', true],
  ['LNA1B2C3D4E5F6G7H8', true],
  ['LN0A1B2C3D4E5F6G7H8', false],
  ['LP07A1B2C3D4E5F6G7H8', false],
  ['LN07A1B2C3D4E5F6G7HU', false],
])('%s is a reference of a payment, with a cell or from before cells: %s', (text, isReference) => {
  expect(referencePattern('LN').test(text)).toBe(isReference);
});
