import { readFileSync } from 'node:fs';
import path from 'node:path';
import { explainError, howToApprove, withCommands } from '../../src/cli/error-hints';
import { createProgram } from '../../src/cli/program';
import { OPERATOR_STEPS } from '../../src/domain/operator-steps';
import { ArchivedError, ConflictError, InvalidError, NotFoundError, OrderIdError, UserError } from '../../src/errors';
import { PACKAGE_ROOT } from '../../src/package-info';

const ENDPOINT = { endpointId: 'e1' };

it.each([
  [new NotFoundError('merchant', 'm1'), 'There is no merchant m1; lunas merchants list shows them.'],
  [new NotFoundError('payment', 'LN1'), 'There is no payment LN1; lunas payments list shows the newest.'],
  [new ArchivedError('LN1', 'f.gz'), 'Payment LN1 is in the archive: f.gz. See lunas archive show f.gz --payment LN1.'],
  [new OrderIdError('A-1', ['LN1']), 'A-1 is the order id of LN1: name the payment by its reference_id.'],
  [new OrderIdError('A-1', ['LN1', 'LN2']), 'A-1 is the order id of LN1, LN2: name one by its reference_id.'],
  [new ConflictError('endpoint_disabled', 'It is disabled.', ENDPOINT), /lunas webhooks enable e1 comes first\.$/],
  [new ConflictError('approval_required', 'Wait.', { approvalId: '7' }), /lunas approvals approve 7 --note "…"/],
  [new ConflictError('not_allowed', 'It is settled.'), 'It is settled.'],
  [new ConflictError('not_allowed', 'Not now: the merchant is on hold.'), /on hold \(lunas merchants release\)\.$/],
  [new InvalidError('nmid', 'It needs the NMID.'), 'It needs the NMID. Add --nmid ID….'],
  [new InvalidError('url', 'The URL is wrong.'), 'The URL is wrong.'],
  [new UserError('As it is.'), 'As it is.'],
])('%s: %s', (error, expected) => {
  expect(explainError(error)).toMatch(expected);
});

it('a request that waits is approved with its number', () => {
  expect(howToApprove(3)).toContain('lunas approvals approve 3 --note');
});

it.each(Object.entries(OPERATOR_STEPS))('the step %s has a command, after its own words', (_, text) => {
  expect(withCommands(`It waits for ${text}.`)).toMatch(new RegExp(`${text} \\(lunas [a-z -]+\\)\\.$`));
});

it('each command of the hints exists', async () => {
  const { commands } = await createProgram({ stdout: process.stdout, stderr: process.stderr, environment: {} });
  const text = readFileSync(path.join(PACKAGE_ROOT, 'src/cli/error-hints.ts'), 'utf8');
  const named = [...text.matchAll(/lunas ([a-z-]+)(?: ([a-z-]+))?/g)].map(([, name, sub]) => [name, sub]);
  const unknown = named.filter(([name, sub]) => {
    const command = commands.find((known) => known.name() === name);
    const isGroup = command !== undefined && command.commands.length > 0;
    return (
      command === undefined || (isGroup && sub !== undefined && !command.commands.some((known) => known.name() === sub))
    );
  });
  expect([named.length > 10, unknown]).toEqual([true, []]);
});
