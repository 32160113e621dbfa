import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { INQUIRY_PERIOD_MS, type BankAccountResult } from '../../src/domain/bank-account-inquiry';
import type { bankAccount } from '../../workflows/bank-account';
import { createTimeSkippingEnvironment, workflowBundlePath } from '../support/temporal';

const HOUR_MS = 3_600_000;

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
});
afterAll(() => environment.teardown());

async function run(name: string, inquireBankAccount: () => Promise<BankAccountResult>) {
  let endings = 0;
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: name,
    workflowBundle: { codePath: workflowBundlePath() },
    activities: {
      inquireBankAccount,
      endBankAccountInquiry: async (): Promise<BankAccountResult> => {
        endings += 1;
        return { status: 'rejected' };
      },
    },
  });
  const handle = await environment.client.workflow.start<typeof bankAccount>('bankAccount', {
    workflowId: name,
    taskQueue: name,
    args: [{ bankAccountId: name, merchantId: name }],
  });
  const outcome = await worker.runUntil(
    handle.result().then(
      ({ status }) => status,
      () => 'failed',
    ),
  );
  const { startTime, closeTime } = await handle.describe();
  return { outcome, endings, durationMs: Number(closeTime) - Number(startTime) };
}

it('an inquiry without a result is repeated for a day, and then ends', async () => {
  const silent = () => Promise.reject(ApplicationFailure.retryable('no response'));
  const { durationMs, ...result } = await run('silent', silent);
  expect(result).toEqual({ outcome: 'rejected', endings: 1 });
  expect(durationMs).toBeGreaterThan(INQUIRY_PERIOD_MS - HOUR_MS);
  expect(durationMs).toBeLessThan(INQUIRY_PERIOD_MS + HOUR_MS);
});

it('a result after hours of failures is the result', async () => {
  let attempts = 0;
  const late = async (): Promise<BankAccountResult> => {
    attempts += 1;
    if (attempts < 500) throw ApplicationFailure.retryable('no response');
    return { status: 'pending_approval' };
  };
  expect(await run('late', late)).toMatchObject({ outcome: 'pending_approval', endings: 0 });
});

it('an input that contradicts PostgreSQL fails the workflow, and does not reject the account', async () => {
  const foreign = () => Promise.reject(ApplicationFailure.nonRetryable('another merchant', 'InputRejected'));
  expect(await run('foreign', foreign)).toMatchObject({ outcome: 'failed', endings: 0 });
});
