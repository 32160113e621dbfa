import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { createLogger } from '../../src/observability/logger';
import { installRuntime } from '../../src/worker/runtime';
import { HISTORIES_DIRECTORY } from '../support/history';
import { workflowBundlePath } from '../support/temporal';

const files = readdirSync(HISTORIES_DIRECTORY).filter((name) => name.endsWith('.json'));

function replay(history: unknown, name: string): Promise<void> {
  const workflowBundle = { codePath: workflowBundlePath() };
  return Worker.runReplayHistory({ workflowBundle }, historyFromJSON(history), `payment-of-${name}`);
}

function readHistory(name: string): unknown {
  return JSON.parse(readFileSync(path.join(HISTORIES_DIRECTORY, name), 'utf8'));
}

beforeAll(() => installRuntime(createLogger('test', 'silent')));

describe('a history replay', () => {
  it.each(files)('executes the same commands as the recorded history: %s', async (name) => {
    await expect(replay(readHistory(name), name)).resolves.toBeUndefined();
  });

  it('fails if the workflow executes other commands than the history', async () => {
    const otherHistory = readFileSync(path.join(HISTORIES_DIRECTORY, 'webhook-delivered.json'), 'utf8');
    const forged: unknown = JSON.parse(otherHistory.replace('"webhookDelivery"', '"payment"'));
    await expect(replay(forged, 'forged')).rejects.toThrow(/[Nn]ondeterminis/);
  });
});
