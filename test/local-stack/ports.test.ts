import { once } from 'node:events';
import { createServer } from 'node:net';
import { checkPorts, freePort } from '../../src/local-stack/ports';

const host = '127.0.0.1';

it('accepts free ports', async () => {
  await expect(checkPorts([{ variable: 'PORT', host, port: await freePort() }], 0)).resolves.toBeUndefined();
});

it('gives no port twice, although nothing listens on it yet', async () => {
  const ports = await Promise.all(Array.from({ length: 500 }, () => freePort()));
  expect(new Set(ports).size).toBe(500);
});

it('names the variable and the number of each port that is taken', async () => {
  const taken = await freePort();
  const server = createServer().listen(taken, host);
  await once(server, 'listening');
  const ports = [
    { variable: 'PORT', host, port: await freePort() },
    { variable: 'SANDBOX_PORT', host, port: taken, hint: 'Or set SANDBOX_URL.' },
  ];
  await expect(checkPorts(ports, 0)).rejects.toThrow(
    `Port ${taken} is taken. Set SANDBOX_PORT to a free one, or stop what uses it. Or set SANDBOX_URL.`,
  );
  setTimeout(() => server.close(), 300);
  await expect(checkPorts(ports, 10_000)).resolves.toBeUndefined();
});

it('names both variables if one port is configured twice', async () => {
  const port = await freePort();
  const twins = ['PORT', 'SANDBOX_PORT'].map((variable) => ({ variable, host, port }));
  await expect(checkPorts(twins, 0)).rejects.toThrow(`PORT and SANDBOX_PORT are both ${port}.`);
});
