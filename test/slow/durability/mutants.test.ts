import { z } from 'zod';
import { MUTANT_NAMES, MUTANTS } from '../../faults/mutants';
import { runFaultSuite, TRIAL_TIMEOUT_MS } from '../single-trial';

const reportSchema = z.object({ caught: z.record(z.string(), z.string().nullable()) });

let caught: z.infer<typeof reportSchema>['caught'];

beforeAll(async () => {
  ({ caught } = reportSchema.parse(await runFaultSuite(['--only', 'mutants'])));
}, 2 * TRIAL_TIMEOUT_MS);

describe('the oracle detects the mutant', () => {
  it.each(MUTANT_NAMES)('%s', (mutant) => {
    expect(caught[mutant]).toMatch(new RegExp(`^(${MUTANTS[mutant].violates.join('|')}): `));
  });
});
