import { freePort } from '../../src/local-stack/ports';
import type { ApiSettings } from '../../src/servers/api-server';

const HOST = '127.0.0.1';

/** Free ports for the listeners of an API, and their addresses. */
export async function freeListeners() {
  const [port, operatorPort] = [await freePort(), await freePort()];
  const listeners = { host: HOST, port, operatorHost: HOST, operatorPort } satisfies Partial<ApiSettings>;
  return { listeners, apiUrl: `http://${HOST}:${port}`, operatorUrl: `http://${HOST}:${operatorPort}` };
}
