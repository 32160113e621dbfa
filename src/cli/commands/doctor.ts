import { z } from 'zod';
import type { LunasCommand } from '../lunas-command';
import { type CommandResult, formatTable } from '../output';
import { withInstallation } from '../rules/installation';
import { type Installation, INSTALLATION_RULES, REACHABILITY_RULES } from '../rules/installation-rules';
import type { Rule } from '../rules/rule';
import { SETTINGS_RULES } from '../rules/settings-rules';

/** In the order in which an operator repairs them. New rules come last in their table. */
const RULES: readonly Rule<Installation>[] = [...REACHABILITY_RULES, ...INSTALLATION_RULES, ...SETTINGS_RULES];

interface CheckedRule {
  readonly name: string;
  readonly state: 'ok' | 'broken' | 'not_applicable';
  /** Null unless the rule is broken. */
  readonly violation: string | null;
  readonly advice: string | null;
}

export function addDoctorCommand(program: LunasCommand): void {
  program
    .command('doctor')
    .description('print every rule of a safe start with its state; exits with 1 if one is broken')
    .examples('lunas doctor', 'lunas doctor --json')
    .checkedAction(z.object({}), (_, context) => withInstallation(context, checkAllRules));
}

async function checkAllRules(installation: Installation): Promise<CommandResult> {
  const rules = await Promise.all(RULES.map((rule) => checkRule(rule, installation)));
  const broken = rules.filter(({ state }) => state === 'broken').map(({ name }) => name);
  return {
    json: { rules },
    text: formatTable(rules.map(ruleRow), ''),
    ...(broken.length > 0 && { failure: `Broken rules: ${broken.join(', ')}.` }),
  };
}

async function checkRule(
  { name, advice, check }: Rule<Installation>,
  installation: Installation,
): Promise<CheckedRule> {
  const finding = await check(installation);
  if (typeof finding === 'object') return { name, state: 'broken', violation: finding.violation, advice };
  return { name, state: finding === 'ok' ? 'ok' : 'not_applicable', violation: null, advice: null };
}

function ruleRow({ name, state, violation, advice }: CheckedRule) {
  return {
    RULE: name,
    STATE: state.replace('_', ' '),
    'WHAT TO DO': violation === null ? null : `${violation} ${advice}`,
  };
}
