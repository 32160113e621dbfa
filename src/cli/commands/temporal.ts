import { z } from 'zod';
import type { CheckedRequirement, TemporalAccess } from '../../temporal/requirements';
import { type CommandContext, withTemporalAccess } from '../command-context';
import { type LunasCommand, requireOwnSettings } from '../lunas-command';
import { type CommandResult, formatTable } from '../output';

const INPUT = z.object({});

export function addTemporalCommand(program: LunasCommand): void {
  const temporal = program.command('temporal').description('check or set up the namespace of Temporal');
  temporal
    .command('check')
    .description('print each requirement of the Temporal server with its state; exits with 1 if one is broken')
    .examples('lunas temporal check', 'lunas temporal check --json')
    .checkedAction(INPUT, async (_, context) => {
      const { checkRequirements } = await import('../../temporal/requirements.js');
      return run(context, checkRequirements);
    });
  temporal
    .command('setup')
    .description('create what is missing in Temporal: namespace, retention, search attributes; then check')
    .examples('TEMPORAL_NAMESPACE=lunas lunas temporal setup')
    .checkedAction(INPUT, async (_, context) => {
      const { setUpRequirements } = await import('../../temporal/requirements.js');
      return run(context, setUpRequirements);
    });
}

async function run(
  context: CommandContext,
  work: (access: TemporalAccess) => Promise<readonly CheckedRequirement[]>,
): Promise<CommandResult> {
  await requireOwnSettings(context);
  const requirements = await withTemporalAccess(await context.temporal(), work);
  const broken = requirements.filter(({ state }) => state === 'broken').map(({ name }) => name);
  return {
    json: { requirements },
    text: formatTable(requirements.map(requirementRow), ''),
    ...(broken.length > 0 && { failure: `Broken requirements: ${broken.join(', ')}.` }),
  };
}

function requirementRow({ name, state, violation, advice }: CheckedRequirement) {
  return {
    REQUIREMENT: name,
    STATE: state.replace('_', ' '),
    'WHAT TO DO': violation === null ? null : `${violation} ${advice}`,
  };
}
