import path from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import * as activities from './activities';

/** The worker of the no-op and the bare lifecycle has its own process, as the worker of Lunas has. */
async function main(): Promise<void> {
  const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
  const worker = await Worker.create({
    connection,
    taskQueue: 'bench-noop',
    workflowsPath: path.join(__dirname, 'workflow.js'),
    activities,
    maxCachedWorkflows: 500,
  });
  process.once('disconnect', () => worker.shutdown());
  process.send?.({ ready: true });
  await worker.run();
  await connection.close();
}

void main();
