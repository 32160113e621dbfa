import type { RequestRecord } from '../services/payments/requests';

/** A request as a row of a table. */
export function requestCells(request: RequestRecord) {
  const { id, startedAt, key, method, path, status, durationMs, errorCode, errorReason, errorDetail } = request;
  const ignored = [...request.ignoredFields, ...request.ignoredParameters];
  return {
    STARTED: startedAt,
    ID: id,
    KEY: key,
    METHOD: method,
    PATH: path,
    STATUS: status ?? 'aborted',
    DURATION: `${durationMs} ms`,
    ERROR: errorReason ?? errorCode,
    DETAIL: errorDetail ?? (ignored.length === 0 ? null : `ignored: ${ignored.join(', ')}`),
  };
}
