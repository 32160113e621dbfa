import type { OperatorPaymentAction } from '../domain/payment-actions';
import { performPaymentAction } from '../services/payments/payment-actions';
import { withTemporal, type CommandContext } from './command-context';
import type { CommandAudit } from './operator-identity';
import type { CommandResult } from './output';

/** Performs the action as the operator of the command line. */
export function runPaymentAction(
  { db, log, actor }: CommandAudit,
  context: CommandContext,
  action: OperatorPaymentAction,
  { payment, note }: { readonly payment: string; readonly note: string },
): Promise<CommandResult> {
  return withTemporal(context, db, async (workflows) => {
    const request = { action, payment, note };
    const { id, referenceId, status } = await performPaymentAction({ db, log, workflows }, actor, request);
    return { json: { payment: { id, referenceId, status } }, text: `${referenceId} (${id}) is ${status}.` };
  });
}
