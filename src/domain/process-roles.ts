/**
 * What a worker process does. `payments`, `webhooks`, `payouts` and `verifier` poll the task queues of payments, of
 * webhook retries, of merchants' bank accounts, and of verifications. The relay makes first attempts of webhooks. The
 * sweeper repeats lost signals, and creates the schedules.
 */
export const WORKER_ROLES = ['payments', 'webhooks', 'relay', 'sweeper', 'payouts', 'verifier'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

/** What a process of the service does. Each role that was ever run is needed. */
export const PROCESS_ROLES = ['api', 'dashboard', ...WORKER_ROLES] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];
