import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { createMidtransProvider } from '../../src/providers/midtrans/midtrans-provider';
import type { OrderKey } from '../../src/providers/provider';
import { verifyPayoutNotification } from '../../src/providers/snap/payout-notification';
import { PAYOUT_PROFILES } from '../../src/providers/snap/payout-profiles';
import { createSnapPayoutProvider } from '../../src/providers/snap/snap-payout-provider';
import { bodyHash, callString, signRsa } from '../../src/snap/signatures';
import {
  CHARGED,
  EXPIRE_DONE,
  ORDER_ID,
  PAID_NOTIFICATION,
  QR_STRING,
  REFUND_CONFIRMED,
  SETTLED,
  TOTAL_RUPIAH,
  TRANSACTION_ID,
} from './midtrans/published-messages';
import { startScriptedMidtrans, type ScriptedMidtrans } from './midtrans/scripted-midtrans';

/* Each row of the tables "From acquirers and banks" in docs/border.md: what each form of the field leads to. */

interface Outcome {
  readonly outcome: string;
  readonly reason?: string;
}

/** A message that is read: a valid one, what reads it, and the outcome if it is not accepted. */
interface Message {
  readonly valid: Record<string, unknown>;
  readonly read: (body: Record<string, unknown>) => Promise<Outcome> | Outcome;
  readonly notAccepted: 'indeterminate' | 'malformed';
}

/**
 * `required`: without a valid one, the message is not accepted. `if_present`: it may be absent, null or empty, and else
 * has to be valid. `optional`: an invalid one is none. `shown`: the same, and a long one is cut.
 */
type Rule = 'required' | 'if_present' | 'optional' | 'shown';

interface Field {
  readonly message: keyof typeof MESSAGES;
  readonly field: string;
  readonly rule: Rule;
  /** Other forms of the valid value. */
  readonly variants?: readonly unknown[];
  readonly invalid?: readonly unknown[];
  /** A long value is cut. */
  readonly isCut?: true;
  /** The outcome without a valid value, if it is not that of the message. */
  readonly notAccepted?: 'unusable';
}

const SERVER_KEY = 'SB-Mid-server-x';
const ORDER: OrderKey = {
  referenceId: ORDER_ID,
  issued: { transactionId: TRANSACTION_ID, totalRupiah: TOTAL_RUPIAH },
};
const PAYOUT_ID = 'LP0Q4T8W2R6Y1Z5X';
const ACCOUNT = { bankCode: '014', number: '0123456789' };
/** Stands for the signature of the message. */
const SIGNED = 'a'.repeat(128);
const MERCHANT_KEY = 'merchant-key';
const NOTIFICATION_URL = 'http://127.0.0.1:3000/provider-notifications/0';
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

let server: ScriptedMidtrans;
let midtrans: ReturnType<typeof createMidtransProvider>;
let bank: ReturnType<typeof createSnapPayoutProvider>;

beforeAll(async () => {
  server = await startScriptedMidtrans();
  midtrans = createMidtransProvider({ baseUrl: server.url, serverKey: SERVER_KEY, notificationUrl: NOTIFICATION_URL });
  const credentials = { clientId: 'c', partnerId: 'p', channelId: '12345', privateKey: keys.privateKey };
  bank = createSnapPayoutProvider({
    profile: 'faspay',
    baseUrl: server.url,
    credentials: { ...credentials, sourceAccountNo: '00000' },
  });
});

afterAll(async () => {
  await Promise.all([midtrans.close(), bank.close()]);
  await server.close();
});

const call = () => ({ signal: new AbortController().signal, deadlineAtMs: Date.now() + 60_000 });

function responded(read: () => Promise<Outcome>): Pick<Message, 'read' | 'notAccepted'> {
  return {
    read: (body) => {
      server.respondWith(body);
      return read();
    },
    notAccepted: 'indeterminate',
  };
}

const createdAt = new Date('2026-09-29T04:46:13Z');
const charge = {
  provider: 'gopay',
  referenceId: ORDER_ID,
  totalRupiah: TOTAL_RUPIAH,
  createdAt,
  expiresAt: new Date(createdAt.getTime() + 900_000),
} as const;
const payoutKey = { referenceId: PAYOUT_ID, bankReference: null, submittedAt: createdAt };
const verifier = (profile: keyof typeof PAYOUT_PROFILES) => ({
  profile: PAYOUT_PROFILES[profile],
  keys: { merchantKey: MERCHANT_KEY, acquirerPublicKeys: [keys.publicKey] },
  notificationUrl: NOTIFICATION_URL,
});

const MESSAGES = {
  'Core charge': {
    valid: { ...CHARGED, qr_string: QR_STRING },
    ...responded(() => midtrans.issueQris(charge, call())),
  },
  'Core status': {
    valid: { ...REFUND_CONFIRMED, qr_string: QR_STRING },
    ...responded(() => midtrans.findPayment(ORDER, call())),
  },
  'Core close': { valid: EXPIRE_DONE, ...responded(() => midtrans.expirePayment(ORDER, call())) },
  'Core notification': {
    valid: { ...PAID_NOTIFICATION, signature_key: SIGNED },
    notAccepted: 'malformed',
    read(body) {
      const { order_id, status_code, gross_amount, signature_key } = body;
      const isSignedText = [order_id, status_code, gross_amount].every((value) => typeof value === 'string');
      const text = isSignedText ? [order_id, status_code, gross_amount, SERVER_KEY].join('') : '';
      const signed =
        signature_key === SIGNED ? { ...body, signature_key: createHash('sha512').update(text).digest('hex') } : body;
      return midtrans.verifyNotification({ rawBody: Buffer.from(JSON.stringify(signed)), headers: {} });
    },
  },
  'SNAP account inquiry': {
    valid: {
      responseCode: '2001600',
      responseMessage: 'Successful',
      beneficiaryAccountName: 'TOKO DEMO',
      beneficiaryAccountNo: ACCOUNT.number,
    },
    ...responded(() => bank.inquireAccount(ACCOUNT, call())),
  },
  'SNAP transfer': {
    valid: { responseCode: '2001800', responseMessage: 'Successful', partnerReferenceNo: PAYOUT_ID, referenceNo: 'B1' },
    ...responded(() => {
      const order = { referenceId: PAYOUT_ID, sendNumber: 1, amountRupiah: 10_000, account: ACCOUNT };
      return bank.sendPayout({ ...order, holderName: 'TOKO DEMO', submittedAt: createdAt }, call());
    }),
  },
  'SNAP transfer status': {
    valid: {
      responseCode: '2003600',
      responseMessage: 'Successful',
      originalPartnerReferenceNo: PAYOUT_ID,
      originalReferenceNo: 'B1',
      latestTransactionStatus: '00',
      transactionStatusDesc: 'Success',
      amount: { value: '10000.00', currency: 'IDR' },
      beneficiaryAccountNo: ACCOUNT.number,
      transactionDate: '2026-11-24T10:00:00+07:00',
    },
    ...responded(() => bank.findPayout(payoutKey, call())),
  },
  'Iris notification': {
    valid: { partner_reference_no: PAYOUT_ID, reference_no: 'B1', status: 'completed' },
    notAccepted: 'malformed',
    read(body) {
      const rawBody = Buffer.from(JSON.stringify(body));
      const signature = createHash('sha512').update(rawBody).update(MERCHANT_KEY).digest('hex');
      return verifyPayoutNotification({ rawBody, headers: { 'iris-signature': [signature] } }, verifier('midtrans'));
    },
  },
  'SNAP transfer notification': {
    valid: { originalPartnerReferenceNo: PAYOUT_ID, originalReferenceNo: 'B1', latestTransactionStatus: '00' },
    notAccepted: 'malformed',
    async read(body) {
      const rawBody = Buffer.from(JSON.stringify(body));
      const timestamp = '2026-11-24T10:00:00+07:00';
      const signed = { method: 'POST', path: new URL(NOTIFICATION_URL).pathname, token: null, timestamp } as const;
      const signature = await signRsa(keys.privateKey, callString({ ...signed, bodyHash: bodyHash(rawBody) }));
      const headers = { 'x-signature': [signature], 'x-timestamp': [timestamp] };
      return verifyPayoutNotification({ rawBody, headers }, verifier('faspay'));
    },
  },
} as const satisfies Record<string, Message>;

const AMOUNTS = ['275000', '275000.', '275000.0', ' 275000.00 ', 275_000];
const NO_AMOUNTS = ['275000.50', '275,000', '-275000', '2.75e5', 275_000.5];
const NO_TIMES = ['29/09/2026 11:50', '2026-02-30 10:00:00', 1_790_000_000];
const ID_FORMS = { variants: [` ${ORDER_ID}\n`], invalid: ['LN-OTHER'] };
const PAYOUT_ID_FORMS = { variants: [` ${PAYOUT_ID} `], invalid: ['LP-OTHER', `${PAYOUT_ID}\u0000`] };

function code(message: Field['message'], field: string, valid: string): Field {
  return { message, field, rule: 'required', variants: [Number(valid), ` ${valid} `], invalid: ['x'] };
}

const FIELDS: readonly Field[] = [
  code('Core charge', 'status_code', '201'),
  { message: 'Core charge', field: 'status_message', rule: 'shown' },
  { message: 'Core charge', field: 'order_id', rule: 'required', ...ID_FORMS },
  { message: 'Core charge', field: 'transaction_id', rule: 'required', variants: [`${TRANSACTION_ID} `] },
  { message: 'Core charge', field: 'gross_amount', rule: 'required', variants: AMOUNTS, invalid: NO_AMOUNTS },
  {
    message: 'Core charge',
    field: 'transaction_status',
    rule: 'required',
    variants: ['PENDING', ' Pending'],
    invalid: ['settlement', 'unknown'],
  },
  {
    message: 'Core charge',
    field: 'qr_string',
    rule: 'required',
    variants: [`${QR_STRING}\r\n`],
    invalid: ['0002'],
    notAccepted: 'unusable',
  },
  code('Core status', 'status_code', '200'),
  { message: 'Core status', field: 'status_message', rule: 'shown' },
  {
    message: 'Core status',
    field: 'order_id',
    rule: 'required',
    variants: [...ID_FORMS.variants, TRANSACTION_ID],
    invalid: ['LN-OTHER'],
  },
  { message: 'Core status', field: 'transaction_id', rule: 'required', variants: [` ${TRANSACTION_ID}`] },
  { message: 'Core status', field: 'gross_amount', rule: 'required', variants: AMOUNTS, invalid: NO_AMOUNTS },
  {
    message: 'Core status',
    field: 'transaction_status',
    rule: 'required',
    variants: ['REFUND', 'partial_refund'],
    invalid: ['chargeback', 'constructor'],
  },
  { message: 'Core status', field: 'currency', rule: 'if_present', variants: ['idr'], invalid: ['USD', 360] },
  { message: 'Core status', field: 'payment_type', rule: 'if_present', variants: ['QRIS'], invalid: ['credit_card'] },
  {
    message: 'Core status',
    field: 'settlement_time',
    rule: 'optional',
    variants: ['2026-09-29T11:50:44', '2026-09-29 11:50:44.000', '2026-09-29T04:50:44Z', '2026-09-29 11:50:44 +0700'],
    invalid: NO_TIMES,
  },
  { message: 'Core status', field: 'qr_string', rule: 'optional', variants: [` ${QR_STRING}`], invalid: ['0002'] },
  { message: 'Core status', field: 'refunds.0.refund_key', rule: 'required', variants: ['reference1 '] },
  {
    message: 'Core status',
    field: 'refunds.0.refund_amount',
    rule: 'required',
    variants: AMOUNTS,
    invalid: NO_AMOUNTS,
  },
  { message: 'Core status', field: 'refunds.0.refund_chargeback_id', rule: 'shown', variants: ['202602070943231'] },
  {
    message: 'Core status',
    field: 'refunds.0.bank_confirmed_at',
    rule: 'if_present',
    variants: ['2026-09-30T16:45:00', '2026-09-30T09:45:00.000Z'],
    invalid: NO_TIMES,
  },
  code('Core close', 'status_code', '407'),
  { message: 'Core close', field: 'status_message', rule: 'shown' },
  {
    message: 'Core close',
    field: 'order_id',
    rule: 'required',
    variants: [...ID_FORMS.variants, TRANSACTION_ID],
    invalid: ['LN-OTHER'],
  },
  { message: 'Core close', field: 'transaction_id', rule: 'optional' },
  { message: 'Core close', field: 'gross_amount', rule: 'optional' },
  {
    message: 'Core close',
    field: 'transaction_status',
    rule: 'required',
    variants: ['EXPIRE'],
    invalid: ['settlement'],
  },
  { message: 'Core notification', field: 'order_id', rule: 'required', invalid: [1111] },
  { message: 'Core notification', field: 'status_code', rule: 'required', invalid: [200] },
  { message: 'Core notification', field: 'gross_amount', rule: 'required', invalid: [275_000] },
  { message: 'Core notification', field: 'signature_key', rule: 'required', invalid: ['edc0', 'z'.repeat(128)] },
  { message: 'Core notification', field: 'transaction_status', rule: 'shown', variants: ['SETTLEMENT'] },
  code('SNAP account inquiry', 'responseCode', '2001600'),
  { message: 'SNAP account inquiry', field: 'responseMessage', rule: 'shown' },
  {
    message: 'SNAP account inquiry',
    field: 'beneficiaryAccountName',
    rule: 'required',
    variants: [' TOKO DEMO '],
    isCut: true,
  },
  { message: 'SNAP account inquiry', field: 'beneficiaryAccountNo', rule: 'optional', variants: ['0123456789 '] },
  code('SNAP transfer', 'responseCode', '2001800'),
  { message: 'SNAP transfer', field: 'responseMessage', rule: 'shown' },
  { message: 'SNAP transfer', field: 'partnerReferenceNo', rule: 'if_present', ...PAYOUT_ID_FORMS },
  { message: 'SNAP transfer', field: 'referenceNo', rule: 'optional', variants: [' B1'], invalid: ['B\n1'] },
  code('SNAP transfer status', 'responseCode', '2003600'),
  { message: 'SNAP transfer status', field: 'responseMessage', rule: 'shown' },
  { message: 'SNAP transfer status', field: 'originalPartnerReferenceNo', rule: 'if_present', ...PAYOUT_ID_FORMS },
  { message: 'SNAP transfer status', field: 'originalReferenceNo', rule: 'optional', variants: ['B1 '] },
  {
    message: 'SNAP transfer status',
    field: 'latestTransactionStatus',
    rule: 'required',
    variants: [' 00'],
    invalid: ['09', '0', 'constructor'],
  },
  { message: 'SNAP transfer status', field: 'transactionStatusDesc', rule: 'shown' },
  {
    message: 'SNAP transfer status',
    field: 'amount.value',
    rule: 'required',
    variants: ['10000', '10000.0', 10_000, ' 10000.00'],
    invalid: ['10000.01', '10.000', '1e4'],
  },
  {
    message: 'SNAP transfer status',
    field: 'amount.currency',
    rule: 'if_present',
    variants: ['idr'],
    invalid: ['USD'],
  },
  {
    message: 'SNAP transfer status',
    field: 'beneficiaryAccountNo',
    rule: 'optional',
    variants: [' 0123456789'],
    invalid: ['012-345', '******6789'],
  },
  {
    message: 'SNAP transfer status',
    field: 'transactionDate',
    rule: 'optional',
    variants: ['2026-11-24T03:00:00.000Z', '2026-11-24T10:00:00+0700', '2026-11-24 10:00:00'],
    invalid: NO_TIMES,
  },
  { message: 'Iris notification', field: 'partner_reference_no', rule: 'required', variants: [`${PAYOUT_ID} `] },
  { message: 'Iris notification', field: 'reference_no', rule: 'optional', variants: [' B1'] },
  { message: 'Iris notification', field: 'status', rule: 'shown', variants: ['COMPLETED', ' completed'] },
  {
    message: 'SNAP transfer notification',
    field: 'originalPartnerReferenceNo',
    rule: 'required',
    variants: [` ${PAYOUT_ID}`],
  },
  { message: 'SNAP transfer notification', field: 'originalReferenceNo', rule: 'optional', variants: ['B1 '] },
  { message: 'SNAP transfer notification', field: 'latestTransactionStatus', rule: 'optional', variants: [' 00'] },
];

const TOO_LONG = '1'.repeat(600);
/** Forms that no field has. */
const NO_VALUES = [{}, []];

/** The message with another value; undefined removes the field. */
function withValue(
  body: Record<string, unknown>,
  [key = '', ...rest]: string[],
  value: unknown,
): Record<string, unknown> {
  const inner = body[key];
  if (rest.length === 0) return { ...body, [key]: value };
  if (Array.isArray(inner)) return { ...body, [key]: [withValue(inner[0], rest.slice(1), value)] };
  return { ...body, [key]: withValue(Object(inner), rest, value) };
}

describe.each(FIELDS)(
  '$message: $field is $rule',
  ({ message, field, rule, variants = [], invalid = [], isCut = rule === 'shown', ...row }) => {
    const { valid, read, ...rest }: Message = MESSAGES[message];
    const notAccepted = row.notAccepted ?? rest.notAccepted;
    const keysOf = field.split('.');
    const readWith = async (value: unknown) => await read(withValue(valid, keysOf, value));

    it('accepts each form of its value', async () => {
      const expected = await read(valid);
      expect(expected).not.toMatchObject({ outcome: notAccepted });
      for (const value of variants) expect([value, await readWith(value)]).toEqual([value, expected]);
    });

    /** The reason names the field. A forger learns no reason. */
    const reason = expect.stringContaining(keysOf.at(-1) ?? '');
    const rejected = { outcome: notAccepted, ...(notAccepted !== 'malformed' && { reason }) };

    it('an optional field may be absent, null or empty, and a required one may not', async () => {
      const absent = await readWith(undefined);
      expect(absent.outcome === notAccepted).toBe(rule === 'required');
      const expected = rule === 'required' ? rejected : absent;
      for (const value of [undefined, null, '', '  ']) {
        expect([value, await readWith(value)]).toEqual([value, expected]);
      }
    });

    it('an invalid value of a field is never read', async () => {
      const isLenient = rule === 'optional' || rule === 'shown';
      const expected = isLenient ? await readWith(undefined) : rejected;
      for (const value of [...NO_VALUES, ...invalid]) {
        expect([value, await readWith(value)]).toEqual([value, expected]);
      }
      const long = await readWith(TOO_LONG);
      expect(long.outcome === notAccepted).toBe(!isLenient && !isCut);
    });
  },
);

it('an order is ours by its transaction id only with its amount, and the reason names what differs', async () => {
  const named = { ...SETTLED, order_id: TRANSACTION_ID };
  const { read } = MESSAGES['Core status'];
  expect(await read(named)).toMatchObject({ outcome: 'found', payment: { status: 'paid' } });
  expect(await read({ ...named, gross_amount: '275001.00' })).toEqual({
    outcome: 'indeterminate',
    reason: 'it is another order: gross_amount is 275001 instead of 275000',
  });
  expect(await read({ ...named, transaction_id: 'foreign' })).toEqual({
    outcome: 'indeterminate',
    reason: `it is another order: transaction_id is "foreign" instead of "${TRANSACTION_ID}"`,
  });
  expect(await read({ ...named, order_id: 'foreign', transaction_id: 'foreign' })).toEqual({
    outcome: 'indeterminate',
    reason: `it is another order: order_id is "foreign" instead of "${ORDER_ID}"`,
  });
  server.respondWith(named);
  const unknown = await midtrans.findPayment({ ...ORDER, issued: null }, call());
  expect(unknown).toMatchObject({ outcome: 'indeterminate' });
});

it('docs/border.md has each of these fields', () => {
  const page = readFileSync(path.join(PACKAGE_ROOT, 'docs', 'border.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith('From acquirers and banks')) ?? '';
  const rows = Array.from(section.matchAll(/^\| (.+?) +\| `(.+?)` +\| (\w+) +\|/gm), ([, ...cells]) => cells.join(' '));
  expect(rows).toEqual(FIELDS.map(({ message, field, rule }) => `${message} ${field} ${rule}`));
});

describe.each(['midtrans', 'faspay'] as const)(
  'the headers of a notification of the bank, as %s signs it',
  (profile) => {
    const rawBody = Buffer.from(
      JSON.stringify({ ...MESSAGES['SNAP transfer notification'].valid, ...MESSAGES['Iris notification'].valid }),
    );
    const timestamp = '2026-11-24T10:00:00+07:00';

    async function signedHeaders(): Promise<Record<string, string>> {
      if (profile === 'midtrans') {
        return { 'iris-signature': createHash('sha512').update(rawBody).update(MERCHANT_KEY).digest('hex') };
      }
      const signed = { method: 'POST', path: new URL(NOTIFICATION_URL).pathname, token: null, timestamp } as const;
      const signature = await signRsa(keys.privateKey, callString({ ...signed, bodyHash: bodyHash(rawBody) }));
      return { 'x-signature': signature, 'x-timestamp': timestamp };
    }

    const outcomeOf = (headers: Record<string, string[]>) =>
      verifyPayoutNotification({ rawBody, headers }, verifier(profile)).outcome;

    it('a header of a notification may be repeated by a proxy, but not have two values', async () => {
      const headers = Object.entries(await signedHeaders());
      const linesOf = (lines: (value: string) => string[]) =>
        Object.fromEntries(headers.map(([name, value]) => [name, lines(value)]));
      expect(outcomeOf(linesOf((value) => [value]))).toBe('verified');
      expect(outcomeOf(linesOf((value) => [value, value]))).toBe('verified');
      for (const [name, value] of headers) {
        for (const lines of [[value, 'another'], ['another', value], []]) {
          expect(outcomeOf({ ...linesOf((one) => [one]), [name]: lines })).toBe('invalid_signature');
        }
      }
    });
  },
);
