import type { PublicEndpoint } from '../endpoint';
import { withTimeout } from '../with-timeout';

/** `GET /healthz`: the process answers. */
export const getHealth: PublicEndpoint = () => Promise.resolve({ status: 200, body: { status: 'ok' } });

/** Whoever asks is about to send us callers, or not, and asks again soon. */
const READINESS_TIMEOUT_MS = 2_000;

/** `GET /readyz`: PostgreSQL and Temporal answer too. */
export const getReadiness: PublicEndpoint = async ({ db, workflows }) => {
  const checks = { postgresql: db.query('select 1'), temporal: workflows.ping() };
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const up = await withTimeout<unknown>(
        READINESS_TIMEOUT_MS,
        check,
        () => new Error(`${name} does not answer`),
      ).then(
        () => true,
        () => false,
      );
      return [name, up ? 'up' : 'down'] as const;
    }),
  );
  const ready = results.every(([, state]) => state === 'up');
  return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'not_ready', ...Object.fromEntries(results) } };
};
