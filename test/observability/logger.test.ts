import { collectLog } from '../support/collect-log';

it('a log line has message and stack of an error, also of one of Temporal', () => {
  const logged = collectLog();
  const { log } = logged;
  log.warn({ err: new Error('ours') }, 'failed');
  log.warn({ error: new TypeError("of Temporal's SDK") }, 'Workflow failed');
  const stack = expect.stringContaining('logger.test');
  expect(logged.lines()).toMatchObject([
    { err: { message: 'ours', stack } },
    { error: { type: 'TypeError', message: "of Temporal's SDK", stack } },
  ]);
});
