import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/embedded/ports';
import { PACKAGE_ROOT } from '../../src/package';
import { until } from '../support/until';

const LUNAS = path.join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'lunas.js');

it('lunas sandbox, alone on a machine, keeps its ledger in a PostgreSQL of its own, over a restart', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'lunas-alone-'));
  const port = await freePort();
  const order = { payment_type: 'qris', transaction_details: { order_id: 'ORDER-1', gross_amount: 10_000 } };
  for (const known of [0, 1]) {
    const child = spawn(process.execPath, [LUNAS, 'sandbox'], {
      env: { PATH: process.env.PATH, LUNAS_HOME: home, SANDBOX_PORT: String(port) },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    const url = `http://127.0.0.1:${port}`;
    const ledger = await until(
      () =>
        fetch(`${url}/simulator/payments`).then(
          (response) => response.json(),
          () => undefined,
        ),
      (answer) => answer !== undefined || child.exitCode !== null,
    );
    expect(ledger).toMatchObject({ payments: Array.from({ length: known }, () => ({ order_id: 'ORDER-1' })) });
    await fetch(`${url}/v2/charge`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from('SB-Mid-server-lunas-sandbox:').toString('base64')}`,
      },
      body: JSON.stringify(order),
    });
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  }
  await rm(home, { recursive: true, force: true });
});
