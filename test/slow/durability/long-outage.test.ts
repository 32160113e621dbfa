import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedProcess } from '../../../src/local-stack/managed-process';
import { freePort } from '../../../src/local-stack/ports';
import { startTemporal, type TemporalOptions } from '../../../src/local-stack/temporal';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { temporaryDirectory } from '../../local-stack/processes';
import { eventually } from '../../support/eventually';
import { startTestService, type TestService } from '../../support/service';
import { bySize, describeInFullSize } from '../../support/size';
import { testEnvironment } from '../../support/test-environment';
import { startTimeSkippingService } from '../../support/time-skipping-service';

/** Invariant I7: PostgreSQL, workflow and provider agree within 60 s after an outage, however long it was. */
const CONVERGENCE_TIMEOUT_MS = 60_000;
const MINUTE_MS = 60_000;
/** gRPC by itself connects again after pauses that grow by 1.6, from one second to two minutes. */
const OUTAGE_MS = 5 * MINUTE_MS;
/** Delays that double without a limit have grown to ten minutes by then. */
const SKIPPED_MINUTES = bySize({ small: 20, full: 120 });
const PAYMENTS = 20;

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

/** From now on every status query fails. */
const failStatusCalls = (service: TestService) => service.injectFault('status', 'http_500', 10_000);

async function createPayments(service: TestService): Promise<Created[]> {
  const created = await Promise.all(
    Array.from({ length: PAYMENTS }, () => service.call('POST', '/payments', { amount: 50_000 })),
  );
  return created.map(({ body }) => body.payment);
}

async function countPaid(service: TestService): Promise<number> {
  const { rows } = await service.db.query<{ paid: number }>(
    "select count(*) as paid from payments where status in ('paid', 'settled')",
  );
  return rows[0]?.paid ?? 0;
}

it(`${SKIPPED_MINUTES} (skipped) minutes without the provider: the next attempt comes within 60 s`, async () => {
  const timeSkipping = await startTimeSkippingService();
  try {
    const { service, clock } = timeSkipping;
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 86_400 });
    const { id, reference_id } = await timeSkipping.createPayment();
    await failStatusCalls(service);
    await service.pay(reference_id);
    await clock.advance(SKIPPED_MINUTES * MINUTE_MS);
    expect((await service.call('GET', `/payments/${id}`)).body.payment.status).toBe('pending');
    await service.clearFaults();
    await clock.advance(CONVERGENCE_TIMEOUT_MS);
    await timeSkipping.waitForStatus(id, 'paid');
  } finally {
    await timeSkipping.close();
  }
}, 900_000);

describeInFullSize('a real outage', () => {
  it(`${OUTAGE_MS / 1_000} (real) seconds without Temporal and the provider: all agree within 60 s`, async () => {
    const directory = await temporaryDirectory();
    await mkdir(path.join(directory, 'temporal'));
    const options: TemporalOptions = {
      binary: testEnvironment('TEMPORAL_CLI_PATH'),
      port: await freePort(),
      uiPort: await freePort(),
      namespace: 'default',
      databaseFile: path.join(directory, 'temporal', 'temporal.db'),
      logFile: path.join(directory, 'temporal.log'),
    };
    const start = (): Promise<ManagedProcess> => startTemporal(options, new AbortController().signal);
    let temporal = await start();
    const service = await startTestService({
      address: `127.0.0.1:${options.port}`,
      namespace: 'default',
      security: {},
    });
    try {
      const [notified, unnotified] = [await createPayments(service), await createPayments(service)];
      await failStatusCalls(service);
      // The provider's notifications of these reach their workflows, which cannot query the provider.
      for (const { reference_id } of notified) await service.pay(reference_id);
      await eventually(
        async () =>
          (await Promise.all(notified.map(({ id }) => service.workflows.queryStatus(id)))).map(
            (report) => report?.waitingFor,
          ),
        (waitingFor) => waitingFor.every((waitingFor) => waitingFor?.includes('retried')),
      );
      await temporal.stop();
      // The notifications of these are stored, but no workflow can be signalled.
      for (const { reference_id } of unnotified) await service.pay(reference_id);
      await sleep(OUTAGE_MS);
      expect(await countPaid(service)).toBe(0);

      await service.clearFaults();
      temporal = await start();
      await eventually(
        () => countPaid(service),
        (paid) => paid === 2 * PAYMENTS,
        CONVERGENCE_TIMEOUT_MS,
      );
    } finally {
      await service.close();
      await temporal.stop();
    }
  }, 900_000);
});
