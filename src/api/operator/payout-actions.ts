import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { z } from 'zod';
import type { Payout } from '../../db/payouts/list-payouts';
import { PAYOUT_RESOLUTIONS } from '../../domain/payout-actions';
import { snakeCaseKeys } from '../../lib/snake-case';
import type { Operation } from '../../services/operations/operation';
import type { Reasons } from '../../services/operations/rejections';
import { requireDone } from '../../services/operations/require-done';
import type { PayoutActNeeds, payoutPath } from '../../services/payouts/act-on-payout';
import { approvePayout } from '../../services/payouts/approve-payout';
import { cancelPayout } from '../../services/payouts/cancel-payout';
import { resendPayout } from '../../services/payouts/resend-payout';
import { resolvePayout } from '../../services/payouts/resolve-payout';
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

export const approvePayoutByOperator = payoutActionEndpoint(approvePayout, readAction);
export const cancelPayoutByOperator = payoutActionEndpoint(cancelPayout, readAction);
export const resendPayoutByOperator = payoutActionEndpoint(resendPayout, readAction);
export const resolvePayoutByOperator = payoutActionEndpoint(resolvePayout, (request) => {
  const { note, as: resolution, ...others } = parseActionBody(request, resolutionSchema);
  return { note, input: { ...others, resolution } };
});

/** For an action whose body is only a note and a version. */
function readAction(request: Request) {
  const { note, ...input } = parseActionBody(request, actionSchema);
  return { note, input };
}

function payoutActionEndpoint<Input extends z.ZodObject, R extends Reasons, Subject>(
  operation: Operation<`payout.${string}`, typeof payoutPath, Input, R, PayoutActNeeds, Subject, Payout>,
  read: (request: Request) => { readonly note: string; readonly input: z.input<Input> },
): OperatorEndpoint {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/payouts/:id/${operation.name.replace('payout.', '')}`,
    scope: operation.scope,
    readsBody: true,
    async handler({ db, log, workflows }: Pick<ApiDependencies, 'db' | 'log' | 'workflows'>, request, { actor }) {
      const call = { ...read(request), path: { payout: payoutInPath(request) }, formId: randomUUID() };
      const payout = await mapErrors('payment_cancel_failed', async () =>
        requireDone(await operation.run({ db, log, workflows }, actor, call)),
      );
      return { status: 200, body: snakeCaseKeys({ payout }) };
    },
  });
}
