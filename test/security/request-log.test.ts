import { once } from 'node:events';
import { connect } from 'node:net';
import { z } from 'zod';
import { insertOperator } from '../../src/services/identity/operators';
import { sendRequest, startTestApis, type TestApis } from '../support/api';
import { eventually } from '../support/eventually';

let apis: TestApis;
let url: string;
let operatorUrl: string;
beforeAll(async () => {
  apis = await startTestApis([{ trustProxy: 1 }]);
  [url = '', operatorUrl = ''] = [apis.urls[0], apis.operatorUrls[0]];
});
afterAll(() => apis.close());

const lineSchema = z.looseObject({ msg: z.string(), path: z.string().optional() });

function linesOf(path: string) {
  return apis
    .logged()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => lineSchema.parse(JSON.parse(line)))
    .filter((line) => line.msg === 'request' && line.path === path);
}

async function lineOf(path: string) {
  return (
    await eventually(
      async () => linesOf(path),
      (lines) => lines.length > 0,
    )
  )[0];
}

const from = (address: string) => ({ 'x-forwarded-for': address });

describe('the log line of a request', () => {
  it('names the key, the merchant and the address of the client', async () => {
    const { id, merchantId, secret } = await apis.newKey();
    const headers = { authorization: `Bearer ${secret}`, ...from('203.0.113.9') };
    await sendRequest(`${url}/payments/named`, { headers });
    expect(await lineOf('/payments/named')).toMatchObject({
      requestId: expect.any(String),
      keyId: id,
      merchantId,
      clientAddress: '203.0.113.9',
      status: 404,
    });
  });

  it('names them for a key that is rejected, too', async () => {
    const { id, merchantId, secret } = await apis.newKey({ allowedNetworks: ['198.51.100.0/24'] });
    await sendRequest(`${url}/payments/rejected`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await lineOf('/payments/rejected')).toMatchObject({ keyId: id, merchantId, status: 403 });
  });

  it('names only the address for a request without a valid key', async () => {
    await sendRequest(`${url}/payments/anonymous`, { headers: from('198.51.100.4') });
    const line = await lineOf('/payments/anonymous');
    expect(line).toMatchObject({ clientAddress: '198.51.100.4', status: 401 });
    expect(line).not.toHaveProperty('keyId');
  });

  it('names the operator, also of a read', async () => {
    const { id, secret } = await insertOperator(apis.db, { name: 'dewi', environment: 'sandbox' });
    await sendRequest(`${operatorUrl}/operator/exceptions`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await lineOf('/operator/exceptions')).toMatchObject({
      keyId: id,
      operatorId: id,
      clientAddress: '127.0.0.1',
      status: 200,
    });
  });

  it('exists for a request whose caller closes the connection before the response', async () => {
    const { id, merchantId, secret } = await apis.newKey();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    const head = ['POST /payments HTTP/1.1', 'Host: x', `Authorization: Bearer ${secret}`, 'Content-Length: 100'];
    socket.write(`${head.join('\r\n')}\r\n\r\n{`);
    // The body is awaited: the key was accepted.
    await eventually(
      async () => (await apis.db.query('select 1 from rate_limits where key like $1', [`%${merchantId}`])).rows,
      (rows) => rows.length > 0,
    );
    socket.destroy();
    expect(await lineOf('/payments')).toMatchObject({ keyId: id, merchantId, isAborted: true, status: null });
  });
});
