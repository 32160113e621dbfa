import * as fc from 'fast-check';
import { snapCredentialsSchema } from '../../src/snap/credentials';
import { digitsOf, newDigits } from '../../src/snap/external-id';
import { classify, isTokenRejected, SNAP_OUTCOMES, SNAP_SERVICES, type SnapService } from '../../src/snap/outcomes';
import { readResponse } from '../../src/snap/response';
import { formatTimestamp } from '../../src/snap/timestamp';

describe('a timestamp', () => {
  it('a timestamp is in WIB, in whole seconds', () => {
    expect(formatTimestamp(new Date('2026-11-24T20:30:15.987Z'))).toBe('2026-11-25T03:30:15+07:00');
  });
});

describe('an external id', () => {
  it('an external id of an operation and a key is always the same, has 34 digits, and no other has it', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 2 }), ([one = '', other = '']) => {
        expect(digitsOf('transfer', one)).toMatch(/^\d{34}$/);
        expect(digitsOf('transfer', one)).toBe(digitsOf('transfer', one));
        expect(digitsOf('transfer', one)).not.toBe(digitsOf('transfer', other));
        expect(digitsOf('transfer', one)).not.toBe(digitsOf('refund', one));
      }),
    );
  });

  it('an external id of its own has 32 digits, and is new each time', () => {
    const ids = Array.from({ length: 1000 }, newDigits);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^\d{32}$/);
  });
});

const bodyOf = (responseCode: string) => JSON.stringify({ responseCode, responseMessage: 'text' });

describe('a response', () => {
  it.each(['2001800', '20018000', '20012300'])(
    'the case of a response is in its last two digits: %s',
    (responseCode) => {
      const response = readResponse(200, bodyOf(responseCode));
      expect(response).toMatchObject({ outcome: 'responded', httpStatus: 200, caseCode: '00' });
    },
  );

  it.each([
    [500, bodyOf('2001800')],
    [200, bodyOf('4041801')],
    [200, bodyOf('200180')],
    [200, bodyOf('success')],
    [200, '{}'],
    [200, 'null'],
    [502, '<html>'],
    [200, '['.repeat(60_000)],
  ])('HTTP %s with another code, or without one, is indeterminate', (httpStatus, text) => {
    expect(readResponse(httpStatus, text)).toMatchObject({ outcome: 'indeterminate' });
  });
});

describe('the table of responses', () => {
  const REJECTED: Readonly<Record<SnapService, readonly string[]>> = {
    account_inquiry: ['400 00', '400 01', '400 02', '403 09', '403 18', '404 11'],
    interbank_transfer: [
      '400 00',
      '400 01',
      '400 02',
      '403 02',
      '403 03',
      '403 09',
      '403 14',
      '403 15',
      '403 18',
      '404 00',
      '404 01',
      '404 11',
      '404 13',
      '405 00',
      '405 01',
    ],
    transfer_status: [],
  };
  const services: readonly SnapService[] = ['account_inquiry', 'interbank_transfer', 'transfer_status'];

  it('decides each HTTP status and case: what it does not list is indeterminate', () => {
    for (const service of services) {
      for (const httpStatus of [200, 202, 400, 401, 403, 404, 405, 409, 429, 500, 503, 504]) {
        for (let number = 0; number < 100; number += 1) {
          const caseCode = String(number).padStart(2, '0');
          const pair = `${httpStatus} ${caseCode}`;
          const isNotFound = service === 'transfer_status' && pair === '404 01';
          const isRejected = REJECTED[service].includes(pair);
          const expected =
            pair === '200 00' ? 'done' : isNotFound ? 'not_found' : isRejected ? 'rejected' : 'indeterminate';
          expect([service, pair, classify(service, { httpStatus, caseCode })]).toEqual([service, pair, expected]);
        }
      }
    }
  });

  it('the table of responses has each pair only once', () => {
    const pairs = SNAP_OUTCOMES.flatMap(([httpStatus, cases]) => cases.map((caseCode) => `${httpStatus} ${caseCode}`));
    expect(new Set(pairs).size).toBe(pairs.length);
    expect(Object.keys(SNAP_SERVICES)).toEqual(services);
  });

  it('rejects a token with 401 01 and 401 03, and not with 401 00', () => {
    const isRejected = (caseCode: string) => isTokenRejected({ httpStatus: 401, caseCode });
    expect(['00', '01', '02', '03'].map(isRejected)).toEqual([false, true, false, true]);
  });
});

it('the message about wrong credentials names the fields, and no value', () => {
  const parsed = snapCredentialsSchema.safeParse({
    clientId: 'client',
    partnerId: 'partner',
    channelId: 'planted-secret',
    privateKey: 'planted-secret',
    extra: 'planted-secret',
  });
  expect(parsed.success).toBe(false);
  const message = parsed.error?.message ?? '';
  for (const field of ['channelId', 'privateKey', 'extra']) expect(message).toContain(field);
  expect(message).not.toContain('planted-secret');
});
