import { runSingleTrial, TRIAL_TIMEOUT_MS } from '../single-trial';

it(
  'a full disk of PostgreSQL: the API returns 5xx, and no partial state is left when there is space again',
  async () => {
    expect(await runSingleTrial('full-disk')).toEqual([]);
  },
  TRIAL_TIMEOUT_MS,
);
