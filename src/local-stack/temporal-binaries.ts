import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import which from 'which';
import { pollUntil } from '../lib/poll-until';
import { isSupportedTemporal, MIN_TEMPORAL_VERSION } from '../package-info';
import { freePort } from './ports';
import type { ProgressStep } from './progress';
import { runCommand } from './run-command';
import { downloadBySdk } from './sdk-download';

/** A program of Temporal that is not an npm package. */
export interface TemporalBinary {
  readonly title: string;
  /** The environment variable with its path. */
  readonly variable: 'TEMPORAL_CLI_PATH' | 'TEMPORAL_TEST_SERVER_PATH';
  /** The file name, in the cache and on PATH. */
  readonly command: string;
  readonly searchedOnPath: boolean;
  /** The directory in the cache, with the version. */
  readonly cacheName: string;
  /** @throws Error with the reason if the file cannot be used */
  readonly check: (file: string, signal: AbortSignal) => Promise<void>;
  /** Attempted in this order if the cache does not contain it. */
  readonly installMethods: readonly InstallMethod[];
  /** What the user can do if all methods have failed. */
  readonly remedy: string;
}

export interface InstallMethod {
  /** What it does, and how long it takes. */
  readonly title: string;
  /**
   * Installs the command with its dependencies into the directory.
   * @throws Error with what is missing, or what failed
   */
  readonly install: (directory: string, step: ProgressStep, signal: AbortSignal) => Promise<void>;
}

/** The last tag of the CLI without a `replace` in its go.mod, which `go install` does not accept. */
const CLI_VERSION = '1.5.1';
const CLI_PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${CLI_VERSION}`;
const TEST_SERVER_VERSION = '1.35.0';
const SLF4J_VERSION = '2.0.17';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

const VERSION_TIMEOUT_MS = 20_000;
const LISTEN_TIMEOUT_MS = 30_000;
const BUILD_TIMEOUT_MS = 30 * 60_000;

export const TEMPORAL_CLI: TemporalBinary = {
  title: 'Temporal dev server',
  variable: 'TEMPORAL_CLI_PATH',
  command: 'temporal',
  searchedOnPath: true,
  cacheName: `temporal-cli-${CLI_VERSION}`,
  check: checkVersion,
  installMethods: [
    sdkDownload('createLocal', 'temporal'),
    { title: `go install ${CLI_PACKAGE}, 3 to 4 minutes the first time`, install: goInstall },
  ],
  remedy: 'Install Go 1.25 or newer, or set TEMPORAL_CLI_PATH to the temporal command.',
};

export const TEST_SERVER: TemporalBinary = {
  title: 'Temporal test server',
  variable: 'TEMPORAL_TEST_SERVER_PATH',
  command: 'temporal-test-server',
  searchedOnPath: false,
  cacheName: `temporal-test-server-${TEST_SERVER_VERSION}`,
  check: checkListening,
  installMethods: [
    sdkDownload('createTimeSkipping', 'temporal-test-server'),
    { title: `io.temporal:temporal-test-server:${TEST_SERVER_VERSION} by Maven`, install: mavenCopy },
  ],
  remedy: 'Install Java 11 or newer and Maven, or set TEMPORAL_TEST_SERVER_PATH to the temporal-test-server command.',
};

function sdkDownload(environment: 'createLocal' | 'createTimeSkipping', command: string): InstallMethod {
  return {
    title: "the Temporal SDK's own download",
    install: (directory, step, signal) => downloadBySdk(environment, path.join(directory, command), step, signal),
  };
}

async function checkVersion(file: string, signal: AbortSignal): Promise<void> {
  const version = await runCommand({ command: file, args: ['--version'], timeoutMs: VERSION_TIMEOUT_MS, signal });
  const [, server] = /^temporal version .*Server (\d+\.\d+)\./m.exec(version) ?? [];
  if (server === undefined) throw new Error(`--version prints ${JSON.stringify(version.split('\n')[0])}`);
  if (isSupportedTemporal(server)) return;
  const { major, minor } = MIN_TEMPORAL_VERSION;
  throw new Error(`${version} is too old: server ${major}.${minor} or newer is needed`);
}

/** The test server has no `--version`. It is usable if it listens. */
async function checkListening(file: string, signal: AbortSignal): Promise<void> {
  const port = await freePort();
  const isReady = new AbortController();
  const bothSignals = AbortSignal.any([signal, isReady.signal]);
  const server = runCommand({ command: file, args: [String(port)], timeoutMs: LISTEN_TIMEOUT_MS, signal: bothSignals });
  const exited = server.then((output) => Promise.reject(new Error(`ended without listening: ${output}`)));
  const listening = pollUntil('Temporal test server listens', () => isListening(port), {
    timeoutMs: LISTEN_TIMEOUT_MS,
    signal: bothSignals,
  });
  try {
    await Promise.race([exited, listening]);
  } finally {
    isReady.abort();
    await Promise.allSettled([exited, listening]);
  }
}

async function isListening(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function goInstall(directory: string, step: ProgressStep, signal: AbortSignal): Promise<void> {
  const go = await programOnPath('go');
  let packages = 0;
  await runCommand({
    command: go,
    // -v prints each package that is compiled.
    args: ['install', '-v', CLI_PACKAGE],
    // Its temporary files are removed with the directory, also after an interruption.
    env: { ...process.env, GOBIN: directory, GOTMPDIR: directory },
    timeoutMs: BUILD_TIMEOUT_MS,
    signal,
    onLine: (line) => {
      if (line.startsWith('go: ')) return step.detail(line.slice('go: '.length));
      packages += 1;
      step.detail(`${packages} packages compiled, now ${line}`);
    },
  });
}

async function mavenCopy(directory: string, step: ProgressStep, signal: AbortSignal): Promise<void> {
  await programOnPath('java');
  const mvn = await programOnPath('mvn');
  await writeFile(path.join(directory, 'pom.xml'), POM);
  await runCommand({
    command: mvn,
    args: [
      '--batch-mode',
      '--file',
      path.join(directory, 'pom.xml'),
      COPY_DEPENDENCIES,
      `-DoutputDirectory=${path.join(directory, 'lib')}`,
    ],
    timeoutMs: BUILD_TIMEOUT_MS,
    signal,
    onLine: (line) => step.detail(line.replace(/^\[INFO\] /, '')),
  });
  const script = path.join(directory, 'temporal-test-server');
  await writeFile(script, SCRIPT);
  await chmod(script, 0o755);
}

async function programOnPath(name: string): Promise<string> {
  return which(name).catch(() => Promise.reject(new Error(`${name} is not on PATH`)));
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>lunas</groupId>
  <artifactId>temporal-test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${TEST_SERVER_VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>${SLF4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** With `exec`, a signal to the script reaches Java. Fast to start: the SDK waits 5 s for it to listen. */
const SCRIPT = `#!/bin/sh
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"
`;
