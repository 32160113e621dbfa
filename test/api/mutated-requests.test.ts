import { assert, asyncProperty, constantFrom, dictionary, json, oneof, record, string, tuple } from 'fast-check';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
}, 60_000);
afterAll(() => service.close());

const RUNS = { numRuns: 150 };

const amounts = constantFrom(0, 1, 5_000, 10_000_000, 10_000_001, -1, 1.5, 1e20, '5000', null, true, [5_000], {});
const anything = oneof(
  json().map((text): unknown => JSON.parse(text)),
  amounts,
  string(),
);
const bodies = oneof(
  record(
    {
      amount: amounts,
      currency: anything,
      payment_method: anything,
      provider: anything,
      merchant_reference_id: anything,
      customer: anything,
      metadata: oneof(anything, dictionary(string(), anything)),
    },
    { requiredKeys: [] },
  ).map((body) => JSON.stringify(body)),
  record({ amount: amounts, payments: anything }, { requiredKeys: ['payments'] }).map((body) => JSON.stringify(body)),
  json(),
  string({ unit: 'binary' }),
  // A good request with something else in the place of one of its characters.
  tuple(constantFrom(...Array(30).keys()), string({ maxLength: 3 })).map(([at, text]) => {
    const good = '{"amount":5000,"metadata":{"a":1}}';
    return good.slice(0, at) + text + good.slice(at + 1);
  }),
);

async function countOf(table: string): Promise<number> {
  const { rows } = await service.db.query(`select count(*) as count from ${table}`);
  return rows[0].count;
}

describe('a mutated request', () => {
  it('is refused in the words of the contract, or creates one whole payment, and never breaks the service', async () => {
    await assert(
      asyncProperty(bodies, async (body) => {
        const before = await countOf('payments');
        const answer = await service.call('POST', '/payments', body);
        expect([201, 400]).toContain(answer.status);
        const created = answer.status === 201 ? (answer.body.payments?.length ?? 1) : 0;
        expect((await countOf('payments')) - before).toBe(created);
      }),
      RUNS,
    );
    const { rows } = await service.db.query("select status from payments where status <> 'pending'");
    expect(rows).toEqual([]);
  }, 120_000);

  it('is 404 or answered, whatever the path and the query are', async () => {
    const segment = oneof(string({ unit: 'binary' }), constantFrom('%', '%00', '%E0%A4%A', '..', 'LN', "' or 1=1"));
    const places = constantFrom(
      '/payments/',
      '/qris/',
      '/provider-notifications/',
      '/transactions?cursor=',
      '/transactions?status=',
    );
    await assert(
      asyncProperty(places, segment, constantFrom('GET', 'POST', 'DELETE'), async (place, text, method) => {
        const path =
          place +
          text.replaceAll(/[^\x21-\x7e]|[#?]/gu, (character) =>
            encodeURIComponent(character.replace(/\p{Surrogate}/u, '\ufffd')),
          );
        const response = await fetch(service.apiUrl + path, {
          method,
          headers: { authorization: `Bearer ${service.secretKey}` },
          signal: AbortSignal.timeout(10_000),
        });
        expect(response.status).toBeLessThan(500);
        await response.arrayBuffer();
      }),
      RUNS,
    );
  }, 60_000);
});
