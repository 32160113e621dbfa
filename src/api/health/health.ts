import type { ApiDependencies } from '../dependencies';
import { publicEndpoint } from '../endpoint';
import { withTimeout } from '../with-timeout';

/** Liveness: the process accepts requests. */
export const getHealth = publicEndpoint({
  method: 'get',
  path: '/healthz',
  handler: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
});

/** A load balancer decides by this response and repeats its request soon. */
const READINESS_TIMEOUT_MS = 2_000;

const READINESS_CHECKS = {
  postgresql: ({ db }: ApiDependencies) => db.query('select 1'),
  temporal: ({ workflows }: ApiDependencies) => workflows.ping(),
};

/** Readiness: PostgreSQL and Temporal respond too. */
export const getReadiness = publicEndpoint({
  method: 'get',
  path: '/readyz',
  async handler(dependencies) {
    const results = await Promise.all(
      Object.entries(READINESS_CHECKS).map(async ([name, check]) => [name, await isUp(check(dependencies))] as const),
    );
    const isReady = results.every(([, up]) => up);
    const states = results.map(([name, up]) => [name, up ? 'up' : 'down']);
    return {
      status: isReady ? 200 : 503,
      body: { status: isReady ? 'ready' : 'not_ready', ...Object.fromEntries(states) },
    };
  },
});

function isUp(check: Promise<unknown>): Promise<boolean> {
  return withTimeout(READINESS_TIMEOUT_MS, check, () => new Error('no response in time')).then(
    () => true,
    () => false,
  );
}
