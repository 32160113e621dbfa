import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { buildDocument } from '../../src/api/openapi/document';
import { MERCHANT_ENDPOINTS } from '../../src/api/routes';
import { API_ERRORS, ERROR_REASONS } from '../../src/domain/errors';
import { EXPANSIONS } from '../../src/domain/expansions';
import { FEE_PAYERS } from '../../src/domain/fees';
import { PAYMENT_STATUSES } from '../../src/domain/payment-transitions';
import { PACKAGE_ROOT } from '../../src/package-info';
import { valueAt } from '../support/contract';

const text = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'contract.md'), 'utf8');
const document: unknown = JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)));

/** The rows of the table whose first column has this head, without the head. */
function rowsOf(head: string): string[][] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} `));
  const end = lines.findIndex((line, index) => index > start && line === '');
  return lines.slice(start + 2, end).map((line) => cellsOf(line));
}

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

const codesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const keysAt = (...location: string[]) =>
  Object.keys(z.record(z.string(), z.unknown()).parse(valueAt(document, ['components', 'schemas', ...location])));

const required = (...location: string[]) =>
  z.array(z.string()).parse(valueAt(document, ['components', 'schemas', ...location, 'required']));

/** By the columns of the table, the location of the response's payment in the OpenAPI document. */
const RESPONSES = {
  create: ['CreatedPayment'],
  bulk: ['BulkItem'],
  get: ['PaymentDetail'],
  cancel: ['CancelledPayment'],
  refund: ['RefundPaymentResponse', 'properties', 'payment'],
  list: ['ListedPayment'],
} as const;

describe('docs/contract.md', () => {
  it.each(Object.entries(RESPONSES))('has the fields of the response in their order: %s', (column, location) => {
    const cell = Object.keys(RESPONSES).indexOf(column) + 2;
    const fields = rowsOf('Field').filter((row) => row[cell] === 'x');
    expect(fields.flatMap(([names]) => codesIn(names))).toEqual(required(...location));
  });

  it('has every member of ?expand=', () => {
    expect(rowsOf('Member').flatMap(([names]) => codesIn(names))).toEqual([...EXPANSIONS]);
    expect(keysAt('PaymentDetail', 'properties')).toEqual(expect.arrayContaining([...EXPANSIONS]));
  });

  it('has every status, in the order of the code', () => {
    expect(rowsOf('Status').flatMap(([status]) => codesIn(status))).toEqual([...PAYMENT_STATUSES]);
  });

  it('has every error code with its HTTP status', () => {
    const rows = rowsOf('Code').map(([code, httpStatus]) => [codesIn(code).join(), Number(httpStatus)]);
    expect(rows).toEqual(Object.entries(API_ERRORS).map(([code, { httpStatus }]) => [code, httpStatus]));
  });

  it('has every reason with its code and meaning', () => {
    const rows = rowsOf('Reason').map(([reason, code, meaning]) => [
      codesIn(reason).join(),
      codesIn(code).join(),
      meaning,
    ]);
    expect(rows).toEqual(Object.entries(ERROR_REASONS).map(([reason, { code, meaning }]) => [reason, code, meaning]));
  });

  it('has both payers of the fee', () => {
    expect(rowsOf('The fee is paid by').flatMap(([payer]) => codesIn(payer))).toEqual([...FEE_PAYERS]);
  });

  it('has the keys of a webhook in their order', () => {
    const [, sentence] = /exactly these keys: ([^.]+)\./.exec(text) ?? [];
    expect(codesIn(sentence)).toEqual(required('WebhookEvent'));
  });
});
