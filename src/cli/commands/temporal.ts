import { z } from 'zod';
import { requireDone } from '../../services/operations/require-done';
import { useWorkerVersion } from '../../services/use-worker-version';
import type { CheckedRequirement, TemporalAccess } from '../../temporal/requirements';
import type { ListedVersion } from '../../temporal/worker-versions';
import { withTemporalAccess, withTemporalCalls, type CommandContext } from '../command-context';
import { withCommands } from '../error-hints';
import { requireOwnSettings, type LunasCommand } from '../lunas-command';
import { formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const INPUT = z.object({});

export function defineTemporal(temporal: LunasCommand): void {
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
  temporal
    .command('versions')
    .description('list the versions of workers, with the one that starts new payments')
    .examples('lunas temporal versions', 'lunas temporal versions --json')
    .checkedAction(INPUT, async (_, context) => {
      await requireOwnSettings(context);
      const { listWorkerVersions } = await import('../../temporal/worker-versions.js');
      const { TEMPORAL_DEPLOYMENT_NAME: name } = context.config;
      const versions = await withTemporalCalls(context, (client) => listWorkerVersions(client, name));
      return { json: { versions }, text: formatTable(versions.map(versionRow), 'No versioned worker has polled.') };
    });
  temporal
    .command('use-version')
    .description(
      'let new payments start on the workers of a version: to deploy it, or to roll back to it; waits up to 70 s for ' +
        'their polls',
    )
    .argument('<build-id>', 'TEMPORAL_WORKER_BUILD_ID of its workers')
    .examples('lunas temporal use-version 2026-11-23.1')
    .writeAction(z.object({ buildId: z.string() }), async ({ buildId }, audit, context) => {
      const { setCurrentVersion } = await import('../../temporal/worker-versions.js');
      const { TEMPORAL_DEPLOYMENT_NAME: deploymentName } = context.config;
      const setCurrent = (version: string, hasPayouts: boolean) => {
        const current = { deploymentName, buildId: version };
        return withTemporalCalls(context, (client) => setCurrentVersion(client, current, hasPayouts));
      };
      const call = { path: { buildId }, input: {} };
      requireDone(await runOperation(audit, useWorkerVersion, { ...audit, setCurrent }, call));
      return { json: { build_id: buildId }, text: `New payments start on version ${buildId}.` };
    });
}

function versionRow({ buildId, status, createdAt }: ListedVersion) {
  return { VERSION: buildId, STATUS: status, 'POLLED FIRST': createdAt?.toISOString() };
}

async function run(
  context: CommandContext,
  work: (access: TemporalAccess) => Promise<readonly CheckedRequirement[]>,
): Promise<CommandResult> {
  await requireOwnSettings(context);
  const checked = await withTemporalAccess(await context.temporal(), work);
  const requirements = checked.map(explainAdvice);
  const broken = requirements.filter(({ state }) => state === 'broken').map(({ name }) => name);
  return {
    json: { requirements },
    text: formatTable(requirements.map(requirementRow), ''),
    ...(broken.length > 0 && { failure: `Broken requirements: ${broken.join(', ')}.` }),
  };
}

function explainAdvice(requirement: CheckedRequirement): CheckedRequirement {
  const { advice } = requirement;
  return { ...requirement, advice: advice === null ? null : withCommands(advice) };
}

function requirementRow({ name, state, violation, advice }: CheckedRequirement) {
  return {
    REQUIREMENT: name,
    STATE: state.replace('_', ' '),
    'WHAT TO DO': violation === null ? null : `${violation} ${advice}`,
  };
}
