import { performPaymentAction, type PaymentActionName } from '../operator/payment-actions';
import { commandOperator } from './operator-identity';
import type { CommandResult } from './output';
import { type CommandContext, withDatabase, withTemporal } from './command-context';

/** Requests an action of a payment's workflow; the result of the command. */
export function runPaymentAction(
  context: CommandContext,
  action: PaymentActionName,
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
