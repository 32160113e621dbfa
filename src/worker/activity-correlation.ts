import type { SpanOptions } from '@opentelemetry/api';
import type { Context, Info } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import { z } from 'zod';
import { parseCorrelation } from '../domain/correlation';
import { withCorrelation } from '../observability/correlation';
import { withSpan } from '../observability/tracing';

/** What an activity of a payment has as its input: the terms, and the request that caused the step, if one did. */
const paymentInputSchema = z.object({
  terms: z.object({ paymentId: z.string(), correlation: z.unknown().optional() }),
  correlation: z.unknown().optional(),
});

/**
 * Runs an activity as part of the request that caused it, else of the request that created its payment. Its log lines
 * have the ids of request, payment and workflow, those of Temporal's SDK too.
 */
export function correlateActivity({ info }: Context): ActivityInterceptors {
  let sdkLogIds = {};
  return {
    inbound: {
      execute(input, next) {
        const workflowId = info.workflowExecution?.workflowId;
        const payment = paymentInputSchema.safeParse(input.args[0]).data;
        const correlation = parseCorrelation(payment?.correlation) ?? parseCorrelation(payment?.terms.correlation);
        const ids = {
          ...(payment && { paymentId: payment.terms.paymentId }),
          ...(workflowId !== undefined && { workflowId }),
        };
        sdkLogIds = { ...ids, ...(correlation && { requestId: correlation.requestId }) };
        return withCorrelation(correlation, ids, () => withSpan(activitySpan(info), () => next(input)));
      },
    },
    outbound: {
      getLogAttributes: (attributes, next) => next({ ...attributes, ...sdkLogIds }),
    },
  };
}

function activitySpan({ activityType, attempt, isLocal }: Info): readonly [string, SpanOptions] {
  const attributes = { 'temporal.activity.attempt': attempt, 'temporal.activity.is_local': isLocal };
  return [`RunActivity:${activityType}`, { attributes }];
}
