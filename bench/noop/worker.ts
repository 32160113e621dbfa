import path from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';

/** The worker of the no-op has its own process, as the worker of Lunas has. */
async function main(): Promise<void> {
  const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
  const worker = await Worker.create({
    connection,
    taskQueue: 'bench-noop',
    workflowsPath: path.join(__dirname, 'workflow.js'),
    maxCachedWorkflows: 500,
  });
  process.once('disconnect', () => worker.shutdown());
  process.send?.({ ready: true });
  await worker.run();
  await connection.close();
}

void main();
