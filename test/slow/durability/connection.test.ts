import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/local-stack/ports';
import { connectClient } from '../../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../../src/temporal/payment-workflow-client';
import { eventually } from '../../support/eventually';
import { newNamespace } from '../../support/service';
import { startTcpProxy } from '../../support/tcp-proxy';

it('connects after a network that dropped all packets of the first connection', async () => {
  const temporal = await newNamespace();
  const network = await startTcpProxy(temporal.address);
  const workflows = new PaymentWorkflowClient(
    connectClient({ ...temporal, address: network.address }, NO_PAYLOAD_KEYS),
  );
  const isResponding = () =>
    workflows.ping().then(
      () => true,
      () => false,
    );
  try {
    network.hang();
    expect(await isResponding()).toBe(false);
    await network.restore();
    await eventually(isResponding, Boolean);
  } finally {
    await workflows.close();
    await network.close();
  }
});

it('doubles the timeout for a server that sends nothing, and stops when it is closed', async () => {
  const connectedAtMs: number[] = [];
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    connectedAtMs.push(performance.now());
    sockets.push(socket.on('error', () => undefined));
  });
  const port = await freePort();
  await once(silent.listen(port, '127.0.0.1'), 'listening');
  const workflows = new PaymentWorkflowClient(
    connectClient({ address: `127.0.0.1:${port}`, namespace: 'default', security: {} }, NO_PAYLOAD_KEYS),
  );
  while (connectedAtMs.length < 3) await workflows.ping().catch(() => undefined);
  const [, second = 0, third = 0] = connectedAtMs;
  // Twenty seconds after the first ten, with tolerance for a busy machine.
  expect(third - second).toBeGreaterThan(15_000);

  const ping = workflows.ping().catch(() => undefined);
  await workflows.close();
  await ping;
  await sleep(3_000);
  expect(connectedAtMs).toHaveLength(3);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
