import { runSingleTrial, TRIAL_TIMEOUT_MS } from '../single-trial';

it(
  'a killed primary with a synchronous standby: writes succeed within 30 s of the promotion, nothing is lost',
  async () => {
    expect(await runSingleTrial('fail-over')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);

it(
  'with an asynchronous standby, acknowledged payments are lost, and the oracle detects it',
  async () => {
    expect(await runSingleTrial('asynchronous-fail-over')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);
