import { z } from 'zod';
import { isMutant } from './mutants';

const settingsSchema = z.object({
  databaseUrl: z.string(),
  /** The same database for the worker of payouts, with the rights of its role. */
  payoutsDatabaseUrl: z.string(),
  temporalAddress: z.string(),
  masterKey: z.string(),
  apiPort: z.number(),
  refundHoldSeconds: z.number(),
  workflowBundlePath: z.string(),
  /** The ledger of an acquirer that forgets idempotency keys; else null. */
  forgetfulLedgerUrl: z.string().nullable(),
  /** The bank's status of a payout is behind its executions. */
  isBankLate: z.boolean(),
  mutant: z.string().refine(isMutant).nullable(),
});

/** proof.md: PostgreSQL, workflows and provider agree within a minute. */
export const CONVERGENCE_TIMEOUT_MS = 60_000;

/** The harness passes these settings to the processes that it starts. */
export type FaultSettings = z.infer<typeof settingsSchema>;

const VARIABLE = 'LUNAS_FAULTS';

export function settingsEnvironment(settings: FaultSettings): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, [VARIABLE]: JSON.stringify(settings) };
}

/** @throws ZodError in a process that the harness did not start */
export function readSettings(): FaultSettings {
  return settingsSchema.parse(JSON.parse(process.env[VARIABLE] ?? 'null'));
}

export function apiUrlOf({ apiPort }: Pick<FaultSettings, 'apiPort'>): string {
  return `http://127.0.0.1:${apiPort}`;
}
