import { newLinkFields } from '../../../../src/web/dashboard/links/new-link-fields';

const FORM = { title: 'Invoice 1042', kind: 'once', amount: '50.000' };
const OPEN = { title: 'Donation', kind: 'reusable', open: 'on' };

const parse = (form: object, zone: 'Asia/Jakarta' | 'Asia/Jayapura' = 'Asia/Jakarta') =>
  newLinkFields(zone).safeParse(form);

const NO_BOUNDS = { minimumRupiah: null, maximumRupiah: null };

it.each([
  [FORM, { amountRupiah: 50_000, ...NO_BOUNDS }],
  [
    { ...FORM, amount: '1' },
    { amountRupiah: 1, ...NO_BOUNDS },
  ],
  [
    { ...FORM, amount: '10.000.000' },
    { amountRupiah: 10_000_000, ...NO_BOUNDS },
  ],
  // What was typed below is not of this link.
  [
    { ...FORM, minimum: '1.000', maximum: '2.000' },
    { amountRupiah: 50_000, ...NO_BOUNDS },
  ],
  [OPEN, { amountRupiah: null, ...NO_BOUNDS }],
  [
    { ...OPEN, minimum: '5.000', maximum: '5.000' },
    { amountRupiah: null, minimumRupiah: 5_000, maximumRupiah: 5_000 },
  ],
])('the form %j makes a link with the amount %j', (form, amount) => {
  expect(parse(form)).toMatchObject({ success: true, data: { ...amount, expiresAt: null, provider: 'gopay' } });
});

it.each([
  ['title', 'title', { ...FORM, title: 'two\nlines' }],
  ['title', 'title', { ...FORM, title: 'x'.repeat(101) }],
  ['kind', 'kind', { ...FORM, kind: 'twice' }],
  ['amount', 'amount', { ...FORM, amount: undefined }],
  ['amount', 'amount', { ...FORM, amount: '0' }],
  ['amount', 'amount', { ...FORM, amount: '10.000.001' }],
  ['amount', 'amount_or_open', { ...FORM, open: 'on' }],
  ['minimum', 'amount', { ...OPEN, minimum: '0' }],
  ['maximum', 'amount', { ...OPEN, maximum: '10.000.001' }],
  ['order', 'order', { ...FORM, order: 'x'.repeat(65) }],
  ['order', 'order', { ...FORM, order: 'a\0' }],
  ['provider', 'provider', { ...FORM, provider: 'dana' }],
  ['expires', 'expires', { ...FORM, expires: '2026-02-30T08:00' }],
  ['expires', 'expires', { ...FORM, expires: '2026-12-24T24:00' }],
  ['expires', 'expires', { ...FORM, expires: '2026-12-24T08:00Z' }],
])('the field %s has the error %s: %j', (field, code, form) => {
  const { error } = parse(form);
  const errors = new Set(error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  expect(errors).toEqual(new Set([`${field}: ${code}`]));
});

it.each([
  ['Asia/Jakarta', '2026-12-24T01:00:00.000Z'],
  ['Asia/Jayapura', '2026-12-23T23:00:00.000Z'],
] as const)('the end of a link is a time in the zone of its merchant: %s', (zone, expected) => {
  expect(parse({ ...FORM, expires: '2026-12-24T08:00' }, zone).data?.expiresAt?.toISOString()).toBe(expected);
});
