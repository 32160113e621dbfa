import { z } from 'zod';
import { UserError } from '../../errors';
import { readGoLiveFacts } from '../../services/merchants/go-live';
import type { LunasCommand } from '../lunas-command';
import { id } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import { GO_LIVE_RULES } from '../rules/go-live-rules';
import { withInstallation } from '../rules/installation';
import { INSTALLATION_RULES, REACHABILITY_RULES, type Installation } from '../rules/installation-rules';
import type { Rule } from '../rules/rule';
import { RUNTIME_RULES } from '../rules/runtime-rules';
import { SETTINGS_RULES } from '../rules/settings-rules';

/** In the order in which an operator repairs them. New rules come last in their table. */
const RULES: readonly Rule<Installation>[] = [
  ...REACHABILITY_RULES,
  ...INSTALLATION_RULES,
  ...SETTINGS_RULES,
  ...RUNTIME_RULES,
];

interface CheckedRule {
  readonly name: string;
  readonly state: 'ok' | 'broken' | 'warning' | 'not_applicable';
  /** Null unless the rule is broken or warns. */
  readonly violation: string | null;
  readonly advice: string | null;
}

export function defineDoctor(doctor: LunasCommand): void {
  doctor
    .option('--merchant <merchant-id>', 'the go-live checklist of a merchant instead')
    .examples('lunas doctor', 'lunas doctor --json', 'lunas doctor --merchant 01935b6c-7c00-7000-8000-00006c756e61')
    .checkedAction(z.object({ merchant: id.optional() }), ({ merchant }, context) =>
      withInstallation(context, 'doctor', (installation) =>
        merchant === undefined ? checkAll(RULES, installation) : checkMerchant(installation, merchant),
      ),
    );
}

async function checkMerchant({ database, databaseError }: Installation, merchantId: string): Promise<CommandResult> {
  if (database === null) throw new UserError(databaseError ?? 'The database is not available.');
  return checkAll(GO_LIVE_RULES, await readGoLiveFacts(database.db, merchantId));
}

async function checkAll<Subject>(all: readonly Rule<Subject>[], subject: Subject): Promise<CommandResult> {
  const rules = await Promise.all(all.map((rule) => checkRule(rule, subject)));
  const broken = rules.filter(({ state }) => state === 'broken').map(({ name }) => name);
  return {
    json: { rules },
    text: formatTable(rules.map(ruleRow), ''),
    ...(broken.length > 0 && { failure: `Broken rules: ${broken.join(', ')}.` }),
  };
}

async function checkRule<Subject>({ name, advice, check }: Rule<Subject>, subject: Subject): Promise<CheckedRule> {
  const finding = await check(subject);
  if (typeof finding === 'object') {
    return 'violation' in finding
      ? { name, state: 'broken', violation: finding.violation, advice }
      : { name, state: 'warning', violation: finding.warning, advice };
  }
  return { name, state: finding === 'ok' ? 'ok' : 'not_applicable', violation: null, advice: null };
}

function ruleRow({ name, state, violation, advice }: CheckedRule) {
  return {
    RULE: name,
    STATE: state.replace('_', ' '),
    'WHAT TO DO': violation === null ? null : `${violation} ${advice}`,
  };
}
