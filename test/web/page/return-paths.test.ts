import { ReturnPaths, withReturn } from '../../../src/web/page/return-paths';

const PAYMENTS = { area: 'payments', level: 'view' } as const;
const paths = new ReturnPaths([
  { method: 'get', path: '/', access: 'signed_in' },
  { method: 'get', path: '/login', access: 'public' },
  { method: 'get', path: '/start/:token', access: 'public' },
  { method: 'get', path: '/invitations/:token', access: 'public', isReturnTarget: true },
  { method: 'get', path: '/step-up', access: 'signed_in', isReturnTarget: false },
  { method: 'get', path: '/m/:code/payments', access: PAYMENTS },
  { method: 'get', path: '/m/:code/payments.csv', access: PAYMENTS },
  { method: 'get', path: '/m/:code/payments/:ref', access: PAYMENTS },
  { method: 'get', path: '/m/:code/requests/:request', access: PAYMENTS },
  { method: 'post', path: '/m/:code/payments/:ref/refund', access: PAYMENTS },
]);

it.each([
  '/m/7K2QF9AB/payments',
  '/m/7K2QF9AB/payments.csv',
  '/m/7K2QF9AB/payments?group=paid&q=A-1',
  '/m/7K2QF9AB/payments/LN7K2QF9AB3DXT5M',
  '/invitations/lnk_abc-DEF',
  `/m/7K2QF9AB/requests/${encodeURIComponent('shop/order.1?try=2#a:(b)')}`,
  `/m/7K2QF9AB/requests/${encodeURIComponent('/'.repeat(128))}`,
])('a sign-in returns to the page %s', (address) => {
  expect(paths.find(address)).toBe(address);
});

it.each([
  undefined,
  '',
  '//evil.test',
  '///evil.test',
  '/\\evil.test',
  '\\\\evil.test',
  'https://evil.test/m/7K2QF9AB/payments',
  'javascript:alert(1)',
  '/m/7K2QF9AB/payments/..%2f..%2fstart',
  '/m/7K2QF9AB/payments/../../start',
  '/m/7K2QF9AB/requests/..%2F..%2Fstart',
  '/m/7K2QF9AB/requests/a%2F..%2Fstart',
  '/m/7K2QF9AB/requests/%2E%2E%2Fstart',
  '/m/7K2QF9AB/requests/.',
  '/m/7K2QF9AB/requests/a%5Cb',
  '/m/7K2QF9AB/requests/a%0D%0Ab',
  '/m/7K2QF9AB/requests/%252E%252E%252Fstart',
  '/m/7K2QF9AB/requests/a%zz',
  '/m//payments',
  '/m/7K2QF9AB/payments\r\nSet-Cookie: a=b',
  '/m/7K2QF9AB/payments#fragment',
  '/m/7K2QF9AB/paymentsXcsv',
  '/m/7K2QF9AB/payments/LN1/refund',
  '/unknown',
  '/login',
  '/step-up?then=/m/7K2QF9AB/payments',
  '/start/lnk_of-an-attacker',
])('attack: %j leads to home', (address) => {
  expect(paths.find(address)).toBe('/');
});

it('writes the query again, so that only its values are kept', () => {
  expect(paths.find("/m/7K2QF9AB/payments?q='(!)*&q=%0d%0a")).toBe('/m/7K2QF9AB/payments?q=%27%28%21%29*&q=%0D%0A');
});

it('finds the page of a form at its own address, or above it', () => {
  expect(paths.findFormPage('/m/7K2QF9AB/payments/LN1/refund')).toBe('/m/7K2QF9AB/payments/LN1');
  expect(paths.findFormPage('/m/7K2QF9AB/nothing')).toBe('/');
});

it('the address of a sign-in does not name home', () => {
  expect(withReturn('/login', '/')).toBe('/login');
  expect(withReturn('/login', '/m/A?q=1&r=2')).toBe('/login?then=%2Fm%2FA%3Fq%3D1%26r%3D2');
});
