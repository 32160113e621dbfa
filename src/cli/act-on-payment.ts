import { actOnPayment, type PaymentActionName } from '../operator/act-on-payment';
import { commandActor } from './actor';
import type { Answer } from './output';
import { type Settings, withDatabase, withEngine } from './settings';

/** What a command answers that has the workflow of a payment do something. */
export function act(settings: Settings, action: PaymentActionName, payment: string, note: string): Promise<Answer> {
  return withDatabase(settings, (db) =>
    withEngine(settings, async (engine) => {
      const { id, referenceId, status } = await actOnPayment({ db, engine, by: commandActor() }, action, payment, note);
      return { json: { payment: { id, referenceId, status } }, text: `${referenceId} (${id}) is ${status}.` };
    }),
  );
}
