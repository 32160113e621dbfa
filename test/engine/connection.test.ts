import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../src/embedded/ports';
import { connectClient } from '../../src/engine/connection';
import { PaymentsEngine } from '../../src/engine/payments-engine';
import { newNamespace } from '../support/service';
import { startTcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

it('comes to Temporal after a network that swallowed its first connection for good', async () => {
  const temporal = await newNamespace();
  const network = await startTcpProxy(temporal.address);
  const engine = new PaymentsEngine(connectClient({ ...temporal, address: network.address }));
  const answers = () =>
    engine.ping().then(
      () => true,
      () => false,
    );
  try {
    network.hang();
    expect(await answers()).toBe(false);
    await network.restore();
    await until(answers, Boolean);
  } finally {
    await engine.close();
    await network.close();
  }
});

it('waits longer each time for a server that accepts and says nothing, and lets it be when it is closed', async () => {
  const connectedAtMs: number[] = [];
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    connectedAtMs.push(performance.now());
    sockets.push(socket.on('error', () => undefined));
  });
  const port = await freePort();
  await once(silent.listen(port, '127.0.0.1'), 'listening');
  const engine = new PaymentsEngine(
    connectClient({ address: `127.0.0.1:${port}`, namespace: 'default', security: {} }),
  );
  while (connectedAtMs.length < 3) await engine.ping().catch(() => undefined);
  const [, second = 0, third = 0] = connectedAtMs;
  // Twenty seconds after the first ten, less what a machine that stands still makes of them.
  expect(third - second).toBeGreaterThan(15_000);

  const ping = engine.ping().catch(() => undefined);
  await engine.close();
  await ping;
  await sleep(3_000);
  expect(connectedAtMs).toHaveLength(3);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
