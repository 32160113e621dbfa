import type { OperatorPaymentAction } from '../domain/payment-actions';
import { performPaymentAction } from '../operator/payment-actions';
import { commandOperator } from './operator-identity';
import type { CommandResult } from './output';
import { type CommandContext, withDatabase, withTemporal } from './command-context';

/** Performs the action as the operator of the command line. */
export function runPaymentAction(
  context: CommandContext,
  action: OperatorPaymentAction,
  payment: string,
  note: string,
): Promise<CommandResult> {
  return withDatabase(context, (db) =>
    withTemporal(context, async (workflows) => {
      const { id, referenceId, status } = await performPaymentAction(
        { db, workflows, by: commandOperator() },
        action,
        payment,
        note,
      );
      return { json: { payment: { id, referenceId, status } }, text: `${referenceId} (${id}) is ${status}.` };
    }),
  );
}
