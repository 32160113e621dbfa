import { once } from 'node:events';
import { directDatabaseUrl, type Config } from '../config';
import { DerivedKeys } from '../crypto/derived-keys';
import { KeyRing } from '../crypto/master-keys';
import { createSealer } from '../crypto/sealing';
import { migrate } from '../db/connection/migrate';
import { createPool } from '../db/connection/pool';
import { messageOf } from '../errors';
import type { ChildServiceName } from '../local-stack/child-service';
import {
  dataDirectoryAt,
  lockDataDirectory,
  unlockDataDirectory,
  type DataDirectory,
} from '../local-stack/data-directory';
import { ensureDataFormat } from '../local-stack/data-format';
import { loadLocalStackConfig } from '../local-stack/local-stack-config';
import { stopOrphanedProcesses } from '../local-stack/orphaned-processes';
import { checkPorts } from '../local-stack/ports';
import { Progress } from '../local-stack/progress';
import { removeRunFile, writeRunFile, type RunFile } from '../local-stack/run-file';
import { requiredPorts, startStack, STOP_ORDER, type DatabaseAccess, type Stack } from '../local-stack/stack';
import { onStopSignal } from '../local-stack/stop-signals';
import { Supervisor } from '../local-stack/supervisor';
import { SANDBOX_SERVER_KEY } from '../sandbox/acquirers';
import { createDevelopmentLink, endDevelopmentLinks } from '../services/identity/sessions';
import { recover } from '../services/recovery/recover';
import { DEMO_OWNER_EMAIL, seedDemo, type Demo } from '../services/sandbox/seed-demo';
import { seedPayouts } from '../services/sandbox/seed-payouts';
import { assertSandbox, assertSandboxDatabase } from './assert-sandbox';
import { withTemporalAccess } from './command-context';
import { explainDatabaseError } from './database-error';
import { requireSealingKeys } from './require-sealing-keys';
import { requireRules } from './rules/rule';
import { logRuntimeWarnings } from './rules/runtime-rules';
import { SETTINGS_RULES } from './rules/settings-rules';

/** The local stack is always a sandbox. */
const ENVIRONMENT = 'sandbox';
const INTERRUPTED = 130;
/** The services of a killed `lunas` release their ports only after they have detected its end. */
const AFTER_CRASH_MS = 5_000;

/**
 * Starts the local stack, prints when it is ready, and stops it at the first stop signal.
 * Exit code 0 if it was ready before, 130 if it was not.
 * @param render the text for stdout when the stack is ready
 */
export async function runLocalStack(
  services: readonly ChildServiceName[],
  render: (runFile: RunFile, dataDirectory: DataDirectory, namespace: string) => string,
): Promise<void> {
  const config = loadLocalStackConfig();
  await assertLocalSettings(config);
  const dataDirectory = dataDirectoryAt(config.LUNAS_HOME);
  const progress = new Progress();
  const supervisor = new Supervisor((line) => progress.log(line));
  const stop = new AbortController();
  const { afterCrash } = await lockDataDirectory(dataDirectory);
  const stopListening = onStopSignal(
    () => {
      progress.log('Stopping. Press Ctrl-C again to stop everything immediately.');
      stop.abort();
    },
    () => process.exit(INTERRUPTED),
  );
  process.exitCode = INTERRUPTED;
  try {
    await ensureDataFormat(dataDirectory);
    await stopOrphanedProcesses(dataDirectory, (line) => progress.log(line));
    await checkPorts(requiredPorts(config, services), afterCrash ? AFTER_CRASH_MS : 0);
    const stack = await startStack(
      {
        config,
        dataDirectory,
        services,
        prepareDatabase: (access) => prepareDatabase(access, config),
        progress,
        supervisor,
      },
      stop.signal,
    );
    if (stack.temporalUiUrl !== null) await setUpTemporal(config, stack);
    await openPayoutsAccount(config, stack, progress);
    if (afterCrash) await recoverAfterCrash(config, stack, progress);
    await logRuntimeWarnings({ warn: (line: string) => progress.log(line) });
    const runFile = toRunFile(stack, await createDashboardLink(stack));
    await writeRunFile(dataDirectory, runFile);
    process.exitCode = 0;
    process.stdout.write(`${render(runFile, dataDirectory, config.TEMPORAL_NAMESPACE)}\n`);
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    await removeRunFile(dataDirectory);
    await supervisor.stopAll(STOP_ORDER);
    await unlockDataDirectory(dataDirectory);
    stopListening();
    if (stop.signal.aborted) progress.log('Stopped.');
  }
}

/**
 * Compares the settings before anything is started or written.
 * @throws UserError if the settings or the database are not a sandbox's
 */
async function assertLocalSettings(config: Config): Promise<void> {
  assertSandbox(config);
  await requireRules(SETTINGS_RULES, {
    config,
    environment: ENVIRONMENT,
    recordedEnvironment: undefined,
    databaseUrl: config.DATABASE_URL,
    temporalAddress: config.TEMPORAL_ADDRESS,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    dashboardUrl: config.DASHBOARD_URL,
  });
  if (config.DATABASE_URL !== undefined) await assertSandboxDatabase(config.DATABASE_URL);
}

/** Creates the schema and the demo data that the services need. */
async function prepareDatabase(access: DatabaseAccess, config: Config): Promise<Demo> {
  const isOwn = config.DATABASE_URL === undefined;
  try {
    await migrate((isOwn ? undefined : directDatabaseUrl(config)) ?? access.databaseUrl, ENVIRONMENT);
    await requireKeysOf(access);
    return await seedDemo({ ...access, sandboxServerKey: SANDBOX_SERVER_KEY });
  } catch (error) {
    throw explainDatabaseError(error, access.databaseUrl);
  }
}

async function requireKeysOf({ databaseUrl, masterKey, oldMasterKeys }: DatabaseAccess): Promise<void> {
  const db = createPool(databaseUrl, { max: 1 });
  try {
    await requireSealingKeys(db, new KeyRing(masterKey, oldMasterKeys));
  } finally {
    await db.end();
  }
}

/**
 * After a crash of the machine Temporal may have lost its last seconds, PostgreSQL none: recovery runs before the stack
 * is reported as ready. The stack runs also if the recovery fails.
 */
async function recoverAfterCrash(config: Config, stack: Stack<Demo>, progress: Progress): Promise<void> {
  const db = createPool(stack.commandDatabaseUrl, { max: 4 });
  // Imported on demand, like the rest of Temporal's client.
  const { connectClient, temporalTarget } = await import('../temporal/connection.js');
  const { payloadKeys } = await import('../temporal/payload-codec.js');
  const { PaymentWorkflowClient } = await import('../temporal/payment-workflow-client.js');
  const target = temporalTarget(config, stack.temporalAddress);
  const keys = payloadKeys(new DerivedKeys(db, createSealer(stack.masterKey, config.LUNAS_OLD_MASTER_KEYS)));
  const workflows = new PaymentWorkflowClient(connectClient(target, keys));
  const context = { db, environment: ENVIRONMENT, onDeliveries: () => undefined };
  try {
    const { failures } = await progress.track('Recovery after a crash', () => recover(context, workflows));
    if (failures.length > 0) progress.log(`${failures.length} items not recovered: run lunas recover`);
  } catch (error) {
    progress.log(`Recovery failed, run lunas recover: ${messageOf(error)}`);
  } finally {
    await Promise.all([workflows.close(), db.end()]);
  }
}

/** At the bank of the sandbox, which runs by now. Without it only bank accounts of merchants wait. */
async function openPayoutsAccount(config: Config, stack: Stack<Demo>, progress: Progress): Promise<void> {
  const db = createPool(stack.commandDatabaseUrl, { max: 1 });
  const sealer = createSealer(stack.masterKey, config.LUNAS_OLD_MASTER_KEYS);
  try {
    await seedPayouts({ db, sealer, sandboxUrl: stack.sandboxUrl, apiUrl: stack.apiUrl });
  } catch (error) {
    progress.log(`No payouts account at the sandbox's bank: ${messageOf(error)}`);
  } finally {
    await db.end();
  }
}

/** The dev server creates a namespace whose retention is shorter than the service requires. */
async function setUpTemporal(config: Config, { temporalAddress }: Stack<Demo>): Promise<void> {
  const { temporalTarget } = await import('../temporal/connection.js');
  const { setUpRequirements } = await import('../temporal/requirements.js');
  await withTemporalAccess(temporalTarget(config, temporalAddress), setUpRequirements);
}

/** A link that signs a browser in as the demo merchant's owner; null if the stack runs no dashboard. */
async function createDashboardLink({ dashboardUrl, commandDatabaseUrl }: Stack<Demo>): Promise<string | null> {
  if (dashboardUrl === null) return null;
  const db = createPool(commandDatabaseUrl, { max: 1 });
  try {
    const now = new Date();
    // A link works until the stack stops: those of an earlier one end.
    await endDevelopmentLinks(db, now);
    const link = { realm: 'merchant', email: DEMO_OWNER_EMAIL, createdBy: 'lunas up' } as const;
    return `${dashboardUrl}/start/${await createDevelopmentLink(db, link, now)}`;
  } finally {
    await db.end();
  }
}

function toRunFile(stack: Stack<Demo>, dashboardLink: string | null): RunFile {
  return {
    api_url: stack.apiUrl,
    operator_url: stack.operatorUrl,
    dashboard_url: stack.dashboardUrl,
    dashboard_link: dashboardLink,
    metrics_urls: stack.metricsUrls,
    sandbox_url: stack.sandboxUrl,
    temporal_address: stack.temporalAddress,
    temporal_ui_url: stack.temporalUiUrl,
    database_url: stack.commandDatabaseUrl,
    merchant_id: stack.prepared.merchantId,
    secret_key: stack.prepared.secretKey,
    webhook_secret: stack.prepared.webhookSecret,
    pid: process.pid,
  };
}
