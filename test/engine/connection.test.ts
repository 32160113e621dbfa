import { connectClient } from '../../src/engine/connection';
import { PaymentsEngine } from '../../src/engine/payments-engine';
import { newNamespace } from '../support/service';
import { startTcpProxy } from '../support/tcp-proxy';
import { until } from '../support/until';

it('comes to Temporal after a network that swallowed its first connection for good', async () => {
  const temporal = await newNamespace();
  const [host = '', port] = temporal.address.split(':');
  const network = await startTcpProxy({ host, port: Number(port) });
  const engine = new PaymentsEngine(connectClient({ ...temporal, address: `127.0.0.1:${network.port}` }));
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
