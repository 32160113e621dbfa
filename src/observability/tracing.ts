import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import { codeOf } from '../errors';
import { VERSION } from '../package-info';
import { logIds, traceHeaders, withTraceparent } from './correlation';

/** What a span has of a result. */
export interface SpanResult {
  readonly attributes?: Attributes;
  readonly isError?: boolean;
}

/**
 * Starts a span, in the trace of the current scope if it has one. In a process that exports no traces, it does nothing.
 * @param name without ids, so that a name has few values
 */
export function startSpan(name: string, options: SpanOptions): Span {
  return trace.getTracer('lunas', VERSION).startSpan(name, options, contextOf(traceHeaders().traceparent));
}

/** The parent of what the span causes; undefined if it is in no trace. */
export function traceparentOf(span: Span): string | undefined {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return undefined;
  return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Ends a span. The ids of the log lines are also on it. */
export function endSpan(span: Span, { attributes = {}, isError = false }: SpanResult): void {
  const { requestId, paymentId, workflowId } = logIds();
  span.setAttributes({
    'lunas.request_id': requestId,
    'lunas.payment_id': paymentId,
    'temporal.workflow.id': workflowId,
    ...attributes,
  });
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/**
 * Runs the work as a span of the current trace. Only a request to the API starts a trace: without one there is no span.
 * A span has ids and codes, and no messages: those may contain what a merchant or an acquirer sent.
 * @param describe what the span has of the result
 */
export async function withSpan<Result>(
  [name, options]: readonly [name: string, options: SpanOptions],
  work: () => Promise<Result>,
  describe: (result: Result) => SpanResult = () => ({}),
): Promise<Result> {
  const parent = traceHeaders().traceparent;
  if (parent === undefined) return work();
  const span = startSpan(name, options);
  try {
    const result = await withTraceparent(traceparentOf(span) ?? parent, work);
    endSpan(span, describe(result));
    return result;
  } catch (error) {
    const type = codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
    endSpan(span, { isError: true, attributes: { 'error.type': type } });
    throw error;
  }
}

function contextOf(traceparent: string | undefined): Context {
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}
