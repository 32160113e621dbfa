import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { traceIdOf, type Correlation } from '../domain/correlation';

/** The ids that each log line of a scope has. */
interface LogIds {
  requestId?: string;
  paymentId?: string;
  /** The payments of a bulk. */
  paymentIds?: readonly string[];
  workflowId?: string;
}

/** What is known about the work in progress: a request to the API, an activity, or the attempt of a delivery. */
interface Scope {
  readonly ids: LogIds;
  traceparent: string | undefined;
}

const scopes = new AsyncLocalStorage<Scope>();

/** Runs the work of one request. Its log lines have the ids. */
export function withCorrelation<Result>(
  correlation: Correlation | undefined,
  ids: Omit<LogIds, 'requestId'>,
  work: () => Result,
): Result {
  const requestId = correlation?.requestId;
  const scope = {
    ids: { ...(requestId !== undefined && { requestId }), ...ids },
    traceparent: correlation?.traceparent,
  };
  return scopes.run(scope, work);
}

/** Adds ids to the log lines that follow in the current scope. */
export function addLogIds(ids: LogIds): void {
  Object.assign(scopes.getStore()?.ids ?? {}, ids);
}

/** Makes the current scope part of the work of this request. */
export function joinCorrelation({ requestId, traceparent }: Correlation): void {
  const scope = scopes.getStore();
  if (!scope) return;
  scope.ids.requestId = requestId;
  scope.traceparent = traceparent;
}

/** The ids of the current scope, for a log line. */
export function logIds(): LogIds & { readonly traceId?: string } {
  const scope = scopes.getStore();
  if (!scope) return {};
  const { ids, traceparent } = scope;
  return { ...ids, ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }) };
}

/** For what the current scope causes in another process; undefined outside of a scope. */
export function currentCorrelation(): Correlation | undefined {
  const scope = scopes.getStore();
  if (scope?.ids.requestId === undefined) return undefined;
  const { traceparent } = scope;
  return { requestId: scope.ids.requestId, ...(traceparent !== undefined && { traceparent }) };
}

/** The header of a request that the current scope sends; empty if there is no trace. */
export function traceHeaders(): { readonly traceparent?: string } {
  const traceparent = scopes.getStore()?.traceparent;
  return traceparent === undefined ? {} : { traceparent };
}

/** Makes this span the parent of what follows in the current scope. */
export function setTraceparent(traceparent: string): void {
  const scope = scopes.getStore();
  if (scope) scope.traceparent = traceparent;
}

/** Runs a part of the work of the current scope, as part of this span. Both have the same ids in their log lines. */
export function withTraceparent<Result>(traceparent: string, work: () => Result): Result {
  return scopes.run({ ids: scopes.getStore()?.ids ?? {}, traceparent }, work);
}

/** A listener that runs in the current scope, whatever emits the event. */
export function inCurrentScope(listener: () => void): () => void {
  return AsyncResource.bind(listener);
}
