import { runSingleTrial, TRIAL_TIMEOUT_MS } from '../single-trial';

it(
  'a killed primary with a synchronous standby: writes succeed within 30 s of the promotion, nothing is lost',
  async () => {
    expect(await runSingleTrial('fail-over')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);

it(
  'acknowledged payments are lost with an asynchronous standby, and the oracle detects it',
  async () => {
    expect(await runSingleTrial('asynchronous-fail-over')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);
