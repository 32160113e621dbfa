import type { Pool } from '../db/pool';
import type { OperatorPaymentAction } from '../domain/payment-actions';
import { performPaymentAction } from '../operator/payment-actions';
import { commandOperator } from './operator-identity';
import type { CommandResult } from './output';
import { type CommandContext, withTemporal } from './command-context';

/** Performs the action as the operator of the command line. */
export function runPaymentAction(
  db: Pool,
  context: CommandContext,
  action: OperatorPaymentAction,
  { payment, note }: { readonly payment: string; readonly note: string },
): Promise<CommandResult> {
  return withTemporal(context, db, async (workflows) => {
    const operatorContext = { db, workflows, by: commandOperator() };
    const { id, referenceId, status } = await performPaymentAction(operatorContext, action, payment, note);
    return { json: { payment: { id, referenceId, status } }, text: `${referenceId} (${id}) is ${status}.` };
  });
}
