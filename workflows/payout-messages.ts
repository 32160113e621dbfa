import { ApplicationFailure, currentUpdateInfo, defineUpdate, setHandler } from '@temporalio/workflow';
import type { PayoutState } from '../src/domain/payout';
import {
  mayRequest,
  PAYOUT_RESOLUTIONS,
  RESOLVE_PAYOUT_ACTIONS,
  type PayoutAction,
  type PayoutResolution,
  type PayoutUpdate,
} from '../src/domain/payout-actions';
import type { PayoutRequestResult } from '../src/domain/payout-step';
import { isProofOf, requesterRejection, updateProof, type UpdateArguments } from '../src/domain/update-arguments';
import { keysOf } from './keys-of';
import {
  bankUpdatedSignal,
  payoutStatusQuery,
  REQUEST_OUTDATED,
  REQUEST_REJECTED,
  requestPayoutUpdate,
} from './messages';
import type { PayoutRun } from './payout-run';
import type { RequestQueue } from './request-queue';

/** In the order in which the handlers are set: Temporal delivers buffered messages in that order. */
const UPDATE_DESCRIPTIONS = {
  approve: 'A second member or an operator approves the payout.',
  cancel: 'Cancels a payout that the bank has not received.',
  resend: 'An operator permits one more call to the bank, with the same reference.',
  resolve: 'An operator resolves the payout: completed, failed or returned.',
} as const satisfies Record<PayoutUpdate, string>;

/** Why a request is rejected whose payout a step has changed since. */
export const OTHER_VERSION = 'The payout has another version.';

type PayoutUpdateArguments = UpdateArguments<PayoutResolution>;

interface PayoutMessages {
  readonly payout: PayoutRun;
  readonly queue: RequestQueue<PayoutAction>;
  /** The first step: it writes the payout's row, or reads it. */
  readonly begun: Promise<PayoutRequestResult>;
}

/** Sets the handlers of a payout's messages. They read the payout's state, and add to the queue. */
export function handlePayoutMessages(messages: PayoutMessages): void {
  const { payout, queue, begun } = messages;
  setHandler(requestPayoutUpdate, () => begun, {
    description: 'Sent with the start. Completes when the balance is reserved, or the request is rejected.',
  });
  for (const update of keysOf(UPDATE_DESCRIPTIONS)) handleUpdate(update, messages);
  setHandler(bankUpdatedSignal, () => queue.addProviderUpdate(), {
    description: "The bank's status, or what holds the payout back, may have changed: look now. Safe at any time.",
  });
  setHandler(payoutStatusQuery, () => payout.workflowStatus(), {
    description: 'The status of the payout, and what the workflow waits for.',
  });
}

function handleUpdate(update: PayoutUpdate, messages: PayoutMessages): void {
  setHandler(
    defineUpdate<PayoutState, [...PayoutUpdateArguments]>(update),
    async (...given) => perform(update, given, messages),
    {
      description: UPDATE_DESCRIPTIONS[update],
      validator: (...given: [...PayoutUpdateArguments]) => validate(update, given),
    },
  );
}

/** @returns the payout after the workflow performed the request */
async function perform(
  update: PayoutUpdate,
  [{ name, note }, resolution, proof]: PayoutUpdateArguments,
  { payout, queue, begun }: PayoutMessages,
): Promise<PayoutState> {
  const updateId = currentUpdateInfo()?.id ?? '';
  if ((await begun).outcome === 'rejected') throw rejected('There is no such payout.');
  const { version } = payout.state;
  if (proof !== updateProof(update, updateId, version)) {
    throw outdated(version);
  }
  const rejection = await queue.request({
    action: toAction(update, resolution),
    version,
    actor: note === undefined ? { name } : { name, note },
  });
  if (rejection === OTHER_VERSION) throw outdated(payout.state.version);
  if (rejection !== null) throw rejected(rejection);
  return payout.state;
}

/**
 * Anyone who reaches Temporal can send an update: its arguments prove that Lunas sent it. The payout may not be loaded,
 * so its version is compared later.
 */
function validate(update: PayoutUpdate, [actor, resolution, proof]: PayoutUpdateArguments): void {
  const action = toAction(update, resolution);
  const unsent = requesterRejection(action, actor, (identity) => mayRequest(action, identity));
  if (unsent !== null) throw rejected(unsent);
  if (isProofOf(update, currentUpdateInfo()?.id ?? '', proof)) return;
  throw rejected('The arguments of the request belong to no request or to another one.');
}

function outdated(version: number): ApplicationFailure {
  return ApplicationFailure.nonRetryable(OTHER_VERSION, REQUEST_OUTDATED, version);
}

function rejected(reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(reason, REQUEST_REJECTED);
}

function toAction(update: PayoutUpdate, resolution: PayoutResolution | null): PayoutAction {
  if (update !== 'resolve') return update;
  const action = PAYOUT_RESOLUTIONS.find((known) => known === resolution);
  if (action === undefined) throw rejected('The request names no resolution.');
  return RESOLVE_PAYOUT_ACTIONS[action];
}
