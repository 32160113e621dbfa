import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { startTestApis, type TestApis, type TestKey } from '../support/api';

let apis: TestApis;
let key: TestKey;
beforeAll(async () => {
  apis = await startTestApis([{}]);
  key = await apis.newKey();
});
afterAll(() => apis.close());

/** Announces a body, sends only its start, and waits until the connection is closed. */
async function trickle(line: string): Promise<string> {
  const { hostname, port } = new URL(apis.urls[0] ?? '');
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const headers = ['Host: localhost', `Authorization: Bearer ${key.secret}`, 'Content-Type: application/json'];
  socket.write([line, ...headers, 'Content-Length: 100', '', '{"amount":'].join('\r\n'));
  return text(socket);
}

describe('a body that does not arrive', () => {
  it('400 invalid_json, and the connection is closed', async () => {
    const [head = '', body = ''] = (await trickle('POST /payments HTTP/1.1')).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toMatch(/^connection: close$/im);
    expect(head).toMatch(/^x-request-id: /im);
    expect(JSON.parse(body)).toEqual({
      error: { code: 'invalid_json', message: 'The body did not arrive in time.' },
    });
  });

  it('a body that does not arrive does not delay endpoints that read no body', async () => {
    const path = '/payments/01935b6c-7c00-7000-8000-000000000000/cancel';
    const { hostname, port } = new URL(apis.urls[0] ?? '');
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key.secret}\r\nContent-Length: 100\r\n\r\nx`,
    );
    const [response] = await once(socket, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  });
});
