import { maskSecrets } from '../../src/observability/logger';
import { collectLog } from '../support/collect-log';

it('a log line has message and stack of an error, also of one of Temporal', () => {
  const logged = collectLog();
  const { log } = logged;
  log.warn({ err: new Error('ours') }, 'failed');
  log.warn({ error: new TypeError("of Temporal's SDK") }, 'Workflow failed');
  const stack = expect.stringContaining('logger.test');
  expect(logged.lines()).toMatchObject([
    { err: { message: 'ours', stack } },
    { error: { type: 'TypeError', message: "of Temporal's SDK", stack } },
  ]);
});

const SECRET_FIELDS = ['secret', 'authorization', 'serverKey', 'clientSecret', 'privateKey', 'merchantKey'];

it.each([...SECRET_FIELDS, 'accessToken', 'x-signature'])('a log line has no value of the field %s', (name) => {
  const logged = collectLog();
  logged.log.info({ [name]: 'planted', account: { [name]: { key: ['planted'] } }, kept: 1 }, 'provider call');
  logged.log.info('another line');
  const [line, other] = logged.lines();
  expect(line).toMatchObject({ msg: 'provider call', kept: 1 });
  expect(other).toMatchObject({ msg: 'another line' });
  expect(JSON.stringify(line)).not.toContain('planted');
});

it.each(['/invite/', '%2Finvite%2F', '%2finvite%2f', 'cookie='])('masks the token of a link after %s', (before) => {
  expect(maskSecrets(`${before}lnk_${'a'.repeat(39)}wxyz`)).toBe(`${before}lnk_…wxyz`);
});

it.each([
  ['connect to postgresql://api:hunter2secret@db:5432/lunas?x=1', 'connect to postgresql://api:…@db:5432/lunas?x=1'],
  ['redis://:hunter2secret@cache', 'redis://:…@cache'],
  [
    'GET https://shop.example:8443/a@b and user@shop.example',
    'GET https://shop.example:8443/a@b and user@shop.example',
  ],
  [`Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.${'s'.repeat(43)}!`, 'Bearer eyJ…!'],
])('masks a password in an address, and a signed token: %s', (text, masked) => {
  expect(maskSecrets(text)).toBe(masked);
});
