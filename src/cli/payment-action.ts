import { performPaymentAction, type OperatorPaymentOperation } from '../services/payments/actions/perform-action';
import { withTemporal, type CommandContext } from './command-context';
import type { CommandAudit } from './operator-identity';
import type { CommandResult } from './output';

/** Performs the operation as the operator of the command line. */
export function runPaymentAction(
  { db, log, actor }: CommandAudit,
  context: CommandContext,
  operation: OperatorPaymentOperation,
  { payment, note }: { readonly payment: string; readonly note: string },
): Promise<CommandResult> {
  return withTemporal(context, db, async (workflows) => {
    const request = { operation, payment, note };
    const { id, referenceId, status } = await performPaymentAction({ db, log, workflows }, actor, request);
    return { json: { payment: { id, referenceId, status } }, text: `${referenceId} (${id}) is ${status}.` };
  });
}
