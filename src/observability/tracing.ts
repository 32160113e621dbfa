import { logIds, traceHeaders, withTraceparent } from './correlation';
import { codeOf } from '../errors';

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  /** Without ids, so that a name has few values. */
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: Attributes;
}

export interface SpanEnd {
  readonly attributes?: Attributes;
  readonly isError?: boolean;
}

export interface OpenSpan {
  /** For its children. */
  readonly traceparent: string;
  end(result: SpanEnd): void;
}

/** @param parent a `traceparent`; without one the span starts a trace */
export type StartSpan = (span: SpanStart, parent: string | undefined) => OpenSpan;

let exportedSpans: StartSpan | undefined;

/** Of a process with `OTEL_EXPORTER_OTLP_ENDPOINT`; undefined ends it. */
export function setTracing(startSpan: StartSpan | undefined): void {
  exportedSpans = startSpan;
}

/** Starts a span, in the trace of the current scope if it has one. Undefined if the process exports no traces. */
export function startSpan(span: SpanStart): OpenSpan | undefined {
  return exportedSpans?.(span, traceHeaders().traceparent);
}

/**
 * Runs the work as a span of the current trace. Only a request to the API starts a trace: without one there is no span.
 * A span has ids and codes, and no messages: those may contain what a merchant or an acquirer sent.
 * @param describe what the span has of the result
 */
export async function withSpan<Result>(
  span: SpanStart,
  work: () => Promise<Result>,
  describe: (result: Result) => SpanEnd = () => ({}),
): Promise<Result> {
  const open = traceHeaders().traceparent === undefined ? undefined : startSpan(span);
  if (!open) return work();
  try {
    const result = await withTraceparent(open.traceparent, work);
    open.end(withIds(describe(result)));
    return result;
  } catch (error) {
    open.end(withIds({ isError: true, attributes: { 'error.type': codeOf(error) ?? typeName(error) } }));
    throw error;
  }
}

/** The ids of the log lines are also on the spans. */
export function withIds({ attributes, isError = false }: SpanEnd): SpanEnd {
  const { requestId, paymentId, workflowId } = logIds();
  return {
    isError,
    attributes: {
      ...(requestId !== undefined && { 'lunas.request_id': requestId }),
      ...(paymentId !== undefined && { 'lunas.payment_id': paymentId }),
      ...(workflowId !== undefined && { 'temporal.workflow.id': workflowId }),
      ...attributes,
    },
  };
}

function typeName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
