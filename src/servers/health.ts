import { publicEndpoint } from '../http/endpoint';
import type { Readiness } from '../services/readiness';

/** Liveness: the process accepts requests. */
export const getHealth = publicEndpoint({
  method: 'get',
  path: '/healthz',
  isUnobserved: true,
  handler: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
});

/**
 * Readiness: PostgreSQL responds too. That is enough for reads, idempotent replays, lists, QR images and notifications,
 * so without Temporal a load balancer keeps the process. `?for=creates` requires Temporal as well. A process that stops
 * is not ready. The endpoint has no budget: a flood through a proxy must not make a load balancer of the same address
 * remove the process.
 */
export const getReadiness = publicEndpoint({
  method: 'get',
  path: '/readyz',
  isUnobserved: true,
  async handler({ readiness }: { readonly readiness: Readiness }, request) {
    const state = await readiness.check(request.query.for === 'creates');
    return {
      status: state.isReady ? 200 : 503,
      body: {
        status: state.isReady ? 'ready' : 'not_ready',
        postgresql: state.postgresql ? 'up' : 'down',
        temporal: state.temporal ? 'up' : 'down',
      },
    };
  },
});
