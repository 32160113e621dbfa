import { once } from 'node:events';
import { type Config, loadConfig } from '../config';
import { migrate } from '../db/migrate';
import { createPool } from '../db/pool';
import { closeHome, type Home, homeAt, openHome, removeRun, type Run, writeRun } from '../embedded/home';
import { stopLeftovers } from '../embedded/leftover';
import type { LunasServiceName } from '../embedded/lunas-service';
import { checkPorts } from '../embedded/ports';
import { Progress } from '../embedded/progress';
import { type DatabaseAccess, neededPorts, type Stack, startStack, STOP_ORDER } from '../embedded/stack';
import { onStopSignal } from '../embedded/stop-signals';
import { Supervisor } from '../embedded/supervisor';
import { recover } from '../operator/recover';
import { type Demo, seedDemo } from '../operator/seed-demo';
import { SANDBOX_SERVER_KEY } from '../sandbox/server-key';
import { explainDatabaseError } from './database-error';

const INTERRUPTED = 130;
/** The services of a killed `lunas` need a moment to see that it is gone and let go of their ports. */
const AFTER_CRASH_MS = 5_000;

/**
 * Starts the embedded stack, tells when it is ready, keeps it running until it is asked to stop, and stops it.
 * Exit code 0 when it was ready before, 130 when it was not.
 * @param describe what to print on stdout when ready
 */
export async function runEmbedded(
  services: readonly LunasServiceName[],
  describe: (run: Run, home: Home) => string,
): Promise<void> {
  const config = loadConfig();
  const home = homeAt(config.LUNAS_HOME);
  const progress = new Progress();
  const supervisor = new Supervisor((line) => progress.say(line));
  const stop = new AbortController();
  const { afterCrash } = await openHome(home);
  const stopListening = onStopSignal(
    () => {
      progress.say('Stopping. Press Ctrl-C again to end everything at once.');
      stop.abort();
    },
    () => process.exit(INTERRUPTED),
  );
  process.exitCode = INTERRUPTED;
  try {
    await stopLeftovers(home, (line) => progress.say(line));
    await checkPorts(neededPorts(config, services), afterCrash ? AFTER_CRASH_MS : 0);
    const stack = await startStack({ config, home, services, prepareDatabase, progress, supervisor }, stop.signal);
    if (afterCrash) await recoverAfterCrash(config, stack, progress);
    const run = runOf(stack);
    await writeRun(home, run);
    process.exitCode = 0;
    process.stdout.write(`${describe(run, home)}\n`);
    if (!stop.signal.aborted) await once(stop.signal, 'abort');
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    await removeRun(home);
    await supervisor.stopAll(STOP_ORDER);
    await closeHome(home);
    stopListening();
    if (stop.signal.aborted) progress.say('Stopped.');
  }
}

/** The only place where a fresh database becomes one that the services and a newcomer can use. */
async function prepareDatabase(access: DatabaseAccess): Promise<Demo> {
  try {
    await migrate(access.databaseUrl);
    return await seedDemo({ ...access, sandboxServerKey: SANDBOX_SERVER_KEY });
  } catch (error) {
    throw explainDatabaseError(error, access.databaseUrl);
  }
}

/**
 * A crash of the machine may have cost Temporal its last seconds, and PostgreSQL none: it is recovered before anybody is told
 * that all is ready. What fails does not keep the stack from running.
 */
async function recoverAfterCrash(config: Config, stack: Stack<Demo>, progress: Progress): Promise<void> {
  const db = createPool(stack.databaseUrl, { max: 4 });
  // Loaded late, like the rest of Temporal's client.
  const { connectClient, temporalTarget } = await import('../engine/connection.js');
  const { PaymentsEngine } = await import('../engine/payments-engine.js');
  const engine = new PaymentsEngine(connectClient(temporalTarget(config, stack.temporalAddress)));
  const context = { db, environment: config.LUNAS_ENVIRONMENT, onDeliveries: () => undefined };
  try {
    const { failures } = await progress.during('Recovery after a crash', () => recover(context, engine));
    if (failures.length > 0) progress.say(`${failures.length} could not be recovered: run lunas recover`);
  } catch (error) {
    progress.say(`The recovery failed, run lunas recover: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await Promise.all([engine.close(), db.end()]);
  }
}

function runOf(stack: Stack<Demo>): Run {
  return {
    api_url: stack.apiUrl,
    sandbox_url: stack.sandboxUrl,
    temporal_address: stack.temporalAddress,
    temporal_ui_url: stack.temporalUiUrl,
    database_url: stack.databaseUrl,
    merchant_id: stack.prepared.merchantId,
    secret_key: stack.prepared.secretKey,
    webhook_secret: stack.prepared.webhookSecret,
    pid: process.pid,
  };
}
