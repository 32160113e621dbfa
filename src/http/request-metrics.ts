import type { Response } from 'express';
import { observeDuration, type GaugeReader } from '../observability/metrics';
import type { Route } from './endpoint';
import { EVENT_STREAM_HEADERS } from './event-stream';

let inFlight = 0;

/** Counts a request from now until the result is called. */
export function measureRequest(response: Response): () => void {
  const startedMs = performance.now();
  inFlight += 1;
  return () => {
    inFlight -= 1;
    if (isEventStream(response)) return;
    const labels = { ...routeLabels(response), status: statusClass(response) };
    observeDuration('lunas_http_request_duration_seconds', labels, performance.now() - startedMs);
  };
}

/** An event stream is open as long as its page: its duration would be one of the slowest requests. */
function isEventStream(response: Response): boolean {
  return response.get('Content-Type')?.startsWith(EVENT_STREAM_HEADERS['Content-Type']) ?? false;
}

/** The pattern of the route, never the path: that has ids. */
function routeLabels({ locals }: Response): { method: string; route: string } {
  const route: Route | undefined = locals.route;
  return route ? { method: route.method.toUpperCase(), route: route.path } : { method: 'any', route: 'none' };
}

function statusClass({ writableFinished, statusCode }: Response): string {
  return writableFinished ? `${Math.floor(statusCode / 100)}xx` : 'aborted';
}

export const readRequestGauges: GaugeReader = () =>
  Promise.resolve([{ name: 'lunas_http_requests_in_flight', labels: {}, value: inFlight }]);
