import { freePort } from '../../../src/local-stack/ports';
import { payoutWorkflowId } from '../../../workflows/ids';
import { collectLog } from '../../support/collect-log';
import { fetchDecodedHistory } from '../../support/history';
import { fetchMetrics } from '../../support/metrics-page';
import { preparePayoutsAtBank } from '../../support/payouts-at-bank';
import { newNamespace, startTestService } from '../../support/service';
import { tablesWith } from '../../support/tables-with';

const CANARY = `4711${Date.now()}081`;
const host = '127.0.0.1';

it('the number of a payout is in clear nowhere: database, log, history and metrics', async () => {
  const logged = collectLog();
  const metrics = { api: { host, port: await freePort() }, worker: { host, port: await freePort() } };
  const service = await startTestService(await newNamespace(), { log: logged.log, metrics });
  const payouts = await preparePayoutsAtBank(service);
  const payout = await payouts.requested(CANARY);
  await payouts.waitFor(payout, 'completed');
  expect(await payouts.atBank(payout)).toMatchObject({ account_number: CANARY, send_calls: 1 });
  expect(await tablesWith(service.db, payout.bankAccountId)).toContain('payouts');
  expect(await tablesWith(service.db, CANARY)).toEqual([]);
  const history = JSON.stringify(await fetchDecodedHistory(service.client, payoutWorkflowId(payout.payoutId)));
  const pages = await Promise.all(Object.values(metrics).map(({ port }) => fetchMetrics(`http://${host}:${port}`)));
  expect(pages.join('')).toContain('lunas_payout_transitions_total{transition="complete"} 1');
  const texts = { history, log: logged.text(), metrics: pages.join('') };
  expect(logged.text()).toContain('send_payout');
  for (const [name, found] of Object.entries(texts)) expect([name, found.includes(CANARY)]).toEqual([name, false]);
  await service.close();
});
