import { z } from 'zod';
import type { OperatorPaymentOperation } from '../services/payments/actions/perform-action';
import { withTemporal, type CommandContext } from './command-context';
import type { LunasCommand } from './lunas-command';
import type { CommandAudit } from './operator-identity';
import { note } from './option-schemas';
import type { CommandResult } from './output';

const input = z.object({ payment: z.string(), note });

/**
 * Adds the command of an operation that takes only a payment and a note.
 * @param load imports the operation on demand: the other commands of its group do not need it
 */
export function addPaymentAction(
  parent: LunasCommand,
  load: () => Promise<OperatorPaymentOperation>,
  { name, about, example }: { readonly name: string; readonly about: string; readonly example: string },
): void {
  parent
    .command(`${name} <payment>`)
    .description(about)
    .requiredOption('--note <text>', 'why, for the audit log')
    .examples(example)
    .writeAction(input, async (given, audit, context) => runPaymentAction(audit, context, await load(), given));
}

/** Performs the operation as the operator of the command line. */
export function runPaymentAction(
  { db, log, actor }: CommandAudit,
  context: CommandContext,
  operation: OperatorPaymentOperation,
  { payment, note }: { readonly payment: string; readonly note: string },
): Promise<CommandResult> {
  return withTemporal(context, db, async (workflows) => {
    const { performPaymentAction } = await import('../services/payments/actions/perform-action.js');
    const request = { operation, payment, note };
    const { id, referenceId, status } = await performPaymentAction({ db, log, workflows }, actor, request);
    return { json: { payment: { id, referenceId, status } }, text: `${referenceId} (${id}) is ${status}.` };
  });
}
