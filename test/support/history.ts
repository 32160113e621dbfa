import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { PACKAGE_ROOT } from '../../src/package-info';

export const HISTORIES_DIRECTORY = path.join(__dirname, '..', 'histories');

/**
 * Records the history of a completed workflow as a fixture for `replay.test.ts`, only with `RECORD_HISTORIES=1`.
 * Recorded histories do not change: later versions of the workflow must replay them. A new version adds a file.
 */
export async function recordHistory(client: Client, workflowId: string, name: string): Promise<void> {
  if (process.env.RECORD_HISTORIES !== '1') return;
  const file = path.join(HISTORIES_DIRECTORY, `${name}.json`);
  if (existsSync(file)) return;
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  await mkdir(HISTORIES_DIRECTORY, { recursive: true });
  const text = historyToJSON(history)
    .replaceAll(PACKAGE_ROOT, '')
    .replaceAll(/"identity": ".*?"/g, '"identity": "recorder"');
  await writeFile(file, `${text}\n`);
}
