import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { buildDocument } from '../../src/api/openapi/document';
import { API_ERRORS, ERROR_REASONS } from '../../src/domain/errors';
import { EXPANSIONS } from '../../src/domain/expansions';
import { FEE_PAYERS } from '../../src/domain/fees';
import { PAYMENT_STATUSES } from '../../src/domain/payment-transitions';
import { PACKAGE_ROOT } from '../../src/package-info';
import { MERCHANT_ENDPOINTS } from '../../src/servers/api-routes';
import { valueAt } from '../support/contract';

const text = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'contract.md'), 'utf8');
const document: unknown = JSON.parse(JSON.stringify(buildDocument(MERCHANT_ENDPOINTS)));

/** The text below a heading, to the next one. */
const sectionOf = (heading: string) => text.split(/^#+ /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';

/** The items of the list below a heading. */
const itemsOf = (heading: string) =>
  sectionOf(heading)
    .split(/^- /m)
    .slice(1)
    .map((item) => item.replace(/\n\n[^]*/, ''));

const codesIn = (part = '') => [...part.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const keysAt = (...location: string[]) =>
  Object.keys(z.record(z.string(), z.unknown()).parse(valueAt(document, ['components', 'schemas', ...location])));

const required = (...location: string[]) =>
  z.array(z.string()).parse(valueAt(document, ['components', 'schemas', ...location, 'required']));

/** In the order of the list, the location of the response's payment in the OpenAPI document. */
const RESPONSES = {
  create: ['CreatedPayment'],
  bulk: ['BulkItem'],
  get: ['PaymentDetail'],
  cancel: ['CancelledPayment'],
  refund: ['RefundPaymentResponse', 'properties', 'payment'],
  list: ['ListedPayment'],
} as const;

describe('docs/contract.md', () => {
  it.each(Object.entries(RESPONSES))(
    'docs/contract.md has the fields of the response in their order: %s',
    (name, location) => {
      const [, fields] = itemsOf('Payments')[Object.keys(RESPONSES).indexOf(name)]?.split(': ') ?? [];
      expect(codesIn(fields)).toEqual(required(...location));
    },
  );

  it('docs/contract.md has every member of ?expand=', () => {
    const [, members] = /: ([^.]+)\./.exec(sectionOf('Expand')) ?? [];
    expect(codesIn(members)).toEqual([...EXPANSIONS]);
    expect(keysAt('PaymentDetail', 'properties')).toEqual(expect.arrayContaining([...EXPANSIONS]));
  });

  it('docs/contract.md has every status, in the order of the code', () => {
    expect(itemsOf('States').map((item) => codesIn(item)[0])).toEqual([...PAYMENT_STATUSES]);
  });

  it('docs/contract.md has every error code with its HTTP status', () => {
    const codes = itemsOf('Errors').map((item) => [codesIn(item)[0], Number(/\((\d+)\)/.exec(item)?.[1])]);
    expect(codes).toEqual(Object.entries(API_ERRORS).map(([code, { httpStatus }]) => [code, httpStatus]));
  });

  it('docs/contract.md has every reason, with its code', () => {
    const reasons = itemsOf('Errors').flatMap((item) => {
      const [code, names] = item.split('Reasons:');
      return codesIn(names).map((reason) => [reason, codesIn(code)[0]]);
    });
    expect(reasons).toEqual(Object.entries(ERROR_REASONS).map(([reason, { code }]) => [reason, code]));
  });

  it('docs/contract.md has both payers of the fee', () => {
    expect(itemsOf('Fees').map((item) => codesIn(item)[0])).toEqual([...FEE_PAYERS]);
  });

  it('docs/contract.md has the keys of a webhook in their order', () => {
    const [, sentence] = /exactly these keys: ([^.]+)\./.exec(text) ?? [];
    expect(codesIn(sentence)).toEqual(required('WebhookEvent'));
  });
});
