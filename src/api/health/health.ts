import { publicEndpoint } from '../endpoint';

/** Liveness: the process accepts requests. */
export const getHealth = publicEndpoint({
  method: 'get',
  path: '/healthz',
  handler: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
});

/**
 * Readiness: PostgreSQL and Temporal respond too. It has no budget: a flood through a proxy must not make a load
 * balancer of the same address remove the process.
 */
export const getReadiness = publicEndpoint({
  method: 'get',
  path: '/readyz',
  async handler({ readiness }) {
    const state = await readiness.check();
    const isReady = state.postgresql && state.temporal;
    return {
      status: isReady ? 200 : 503,
      body: {
        status: isReady ? 'ready' : 'not_ready',
        postgresql: state.postgresql ? 'up' : 'down',
        temporal: state.temporal ? 'up' : 'down',
      },
    };
  },
});
