/**
 * Connects the log lines, the history rows and the spans that one request to the API causes, in all processes. It
 * decides nothing.
 */
export interface Correlation {
  /** `X-Request-Id` of the caller, else a new one. */
  readonly requestId: string;
  /** W3C Trace Context: the span that is the parent of the next one. */
  readonly traceparent?: string;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Version 00, the only one that exists. Ids of zeros are invalid. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** 1 to 128 visible ASCII characters. */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value);
}

/** A header `traceparent` as W3C Trace Context defines it. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && TRACEPARENT.test(value);
}

/** The trace id within a `traceparent`. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/** The correlation in a value that came through Temporal; undefined if it is none. */
export function parseCorrelation(value: unknown): Correlation | undefined {
  if (typeof value !== 'object' || value === null || !('requestId' in value)) return undefined;
  const { requestId } = value;
  if (!isRequestId(requestId)) return undefined;
  return 'traceparent' in value && isTraceparent(value.traceparent)
    ? { requestId, traceparent: value.traceparent }
    : { requestId };
}
