import { Pool } from 'undici';
import { startApiProcess, type ApiProcess } from '../../../support/api-process';
import { newNamespace, startTestService, type TestService } from '../../../support/service';
import { bySize } from '../../../support/size';

const REQUESTS = bySize({ small: 400, full: 10_000 });
/** To each process; the other requests wait for these. */
const CONNECTIONS = 200;

let service: TestService;
let apis: ApiProcess[];
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  apis = await Promise.all([startApiProcess(service), startApiProcess(service)]);
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.stop()));
  await service.close();
});

/** Sends the same requests to both processes concurrently, and counts the different responses. */
async function countResponses(key: string, body: unknown): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const pools = apis.map(({ url }) => new Pool(url, { connections: CONNECTIONS }));
  await Promise.all(
    Array.from({ length: REQUESTS }, async (_, index) => {
      const response = await pools[index % pools.length]?.request({
        method: 'POST',
        path: '/payments',
        headers: {
          authorization: `Bearer ${service.secretKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
      });
      const summary = `${response?.statusCode} ${await response?.body.text()}`;
      counts.set(summary, (counts.get(summary) ?? 0) + 1);
    }),
  );
  await Promise.all(pools.map((pool) => pool.close()));
  return counts;
}

it(`${REQUESTS} concurrent requests with one key to two API processes create one payment and one charge`, async () => {
  // So that as many as possible wait for the first one.
  await service.injectFault('charge', 'slow');
  const responses = await countResponses('same-key', { amount: 45_000 });
  expect([...responses.values()]).toEqual([REQUESTS]);
  const [summary = ''] = responses.keys();
  expect(summary).toMatch(/^201 /);
  const { rows } = await service.db.query('select id, reference_id from payments');
  expect(rows).toHaveLength(1);
  expect(await service.transitionsOf(rows[0].id)).toEqual(['create', 'issue']);
  expect(await service.atProvider(rows[0].reference_id)).toMatchObject({ charge_calls: 1 });
});
