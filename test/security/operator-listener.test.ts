import { OPERATOR_ENDPOINTS } from '../../src/servers/api-routes';
import { insertOperator } from '../../src/services/identity/operators';
import { sendRequest, startTestApis, type TestApis } from '../support/api';
import { operatorBody } from '../support/operator-body';

const OPERATOR_ADDRESSES = OPERATOR_ENDPOINTS.map(({ method, path }) => [
  method.toUpperCase(),
  path.replace(':id', '0193e5c0-0000-7000-8000-000000000000'),
]);
const FOREIGN = '203.0.113.0/24';

let apis: TestApis;
let publicUrl: string;
let operatorUrl: string;
beforeAll(async () => {
  // A proxy stands before the public listener only.
  apis = await startTestApis([{ trustProxy: 1 }]);
  [publicUrl = '', operatorUrl = ''] = [apis.urls[0], apis.operatorUrls[0]];
});
afterAll(() => apis.close());

function newOperator(name: string, access: object = {}) {
  return insertOperator(apis.db, { name, environment: 'sandbox', ...access });
}

function send(url: string, secret: string, method = 'GET', headers: Record<string, string> = {}) {
  return sendRequest(url, {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' && { body: JSON.stringify(operatorBody(url, 'n')) }),
  });
}

const listActions = (secret: string, headers = {}) => send(`${operatorUrl}/operator/actions`, secret, 'GET', headers);

describe('a leaked operator key', () => {
  it.each(OPERATOR_ADDRESSES)('finds nothing at %s %s of the public listener', async (method = '', path = '') => {
    const { secret } = await newOperator(`leaked: ${method} ${path}`);
    for (const spelling of [path, path.toUpperCase(), `${path}/`, `/${path}`]) {
      expect(await send(publicUrl + spelling, secret, method)).toMatchObject({ status: 404, code: 'not_found' });
    }
    // The listener of the operators has the route: it is not found there only because the object does not exist.
    expect([200, 404]).toContain((await send(operatorUrl + path, secret, method)).status);
  });

  it('an operator key is not accepted from an address outside its allowlist', async () => {
    const { id, secret } = await newOperator('bound', { allowedNetworks: [FOREIGN] });
    const outside = { status: 403, code: 'api_key_ip_not_allowed' };
    expect(await listActions(secret)).toMatchObject(outside);
    expect(await listActions(secret, { 'x-forwarded-for': '203.0.113.7' })).toMatchObject(outside);
    await apis.db.query(`update operators set allowed_networks = '{127.0.0.0/8}' where id = $1`, [id]);
    expect((await listActions(secret)).status).toBe(200);
  });

  it('an operator key is not accepted after its expiry', async () => {
    const { id, secret } = await newOperator('short', { expiresAt: new Date(Date.now() + 3_600_000) });
    expect((await listActions(secret)).status).toBe(200);
    await apis.db.query('update operators set expires_at = now() where id = $1', [id]);
    expect(await listActions(secret)).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('moves no money with the scope of a reader', async () => {
    const { secret } = await newOperator('reader', { scopes: ['read'] });
    const outcomes = await Promise.all(
      OPERATOR_ADDRESSES.map(async ([method = '', path = '']) => {
        const { status, code } = await send(operatorUrl + path, secret, method);
        return { method, isForbidden: status === 403 && code === 'scope_not_allowed' };
      }),
    );
    for (const { method, isForbidden } of outcomes)
      expect({ method, isForbidden }).toEqual({
        method,
        isForbidden: method === 'POST',
      });
    expect(outcomes.length).toBeGreaterThan(8);
  });
});

describe('the listener of the operators', () => {
  it.each(['/payments', '/transactions', '/healthz', '/docs', '/openapi.json'])(
    'the listener of the operators has no %s',
    async (path) => {
      const { secret } = await apis.newKey();
      expect(await send(operatorUrl + path, secret)).toMatchObject({ status: 404, code: 'not_found' });
    },
  );
});
