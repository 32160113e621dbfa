import type { Request } from 'express';
import { z } from 'zod';
import type { OperatorScope } from '../../domain/key-access';
import { PAYOUT_RESOLUTIONS } from '../../domain/payout-actions';
import { snakeCaseKeys } from '../../lib/snake-case';
import { performPayoutAction, type PayoutActionRequest } from '../../services/payouts/payout-operations';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint, type OperatorEndpoint } from '../endpoint';
import { boundedText } from '../max-length';
import { mapErrors, noteSchema, parseActionBody, payoutInPath } from './operator-request';

/** The version that the operator has seen. */
const version = z.int({ error: 'must be a whole number' }).min(1, { error: 'must be at least 1' }).optional();
const actionSchema = noteSchema.extend({ version });

const MAX_EVIDENCE_CHARACTERS = 200;

const resolutionSchema = actionSchema.extend({
  as: z.enum(PAYOUT_RESOLUTIONS, { error: 'must be completed, failed or returned' }),
  evidence: boundedText(MAX_EVIDENCE_CHARACTERS).refine((text) => text.trim() !== '', { error: 'must not be empty' }),
});

export const approvePayout = payoutActionEndpoint('approve', 'payout', withNote('approve'));
export const cancelPayout = payoutActionEndpoint('cancel', 'payout', withNote('cancel'));
export const resendPayout = payoutActionEndpoint('resend', 'resolve', withNote('resend'));
export const resolvePayout = payoutActionEndpoint('resolve', 'resolve', (request) => {
  const { as: resolution, ...others } = parseActionBody(request, resolutionSchema);
  return { action: 'resolve', payout: payoutInPath(request), resolution, ...others };
});

/** For an action whose body is only a note and a version. */
function withNote(action: 'approve' | 'cancel' | 'resend') {
  return (request: Request): PayoutActionRequest => {
    const body = parseActionBody(request, actionSchema);
    return { action, payout: payoutInPath(request), ...body };
  };
}

function payoutActionEndpoint(
  path: PayoutActionRequest['action'],
  scope: OperatorScope,
  read: (request: Request) => PayoutActionRequest,
): OperatorEndpoint {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/payouts/:id/${path}`,
    scope,
    readsBody: true,
    async handler({ db, log, workflows }: Pick<ApiDependencies, 'db' | 'log' | 'workflows'>, request, { actor }) {
      const action = read(request);
      const dependencies = { db, log, workflows: workflows.payouts };
      const payout = await mapErrors('payment_cancel_failed', () => performPayoutAction(dependencies, actor, action));
      return { status: 200, body: snakeCaseKeys({ payout }) };
    },
  });
}
