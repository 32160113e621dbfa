import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pollUntil } from '../../src/lib/poll-until';
import { launch, type ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { ensureDatabase, PostgresCluster, withClient } from '../../src/local-stack/postgres';
import type { Processes } from '../meter';
import type { KillBillArtifacts } from './artifacts';

const START_TIMEOUT_MS = 300_000;
const STOP_SIGNALS = [{ signal: 'SIGTERM', graceMs: 20_000 }] as const;
/** Packages of Java that Kill Bill and its OSGi framework reach, and that Java 17 has closed. */
const OPENED = [
  'java.lang',
  'java.util',
  'java.net',
  'java.io',
  'java.security',
  ...['file', 'ftp', 'http', 'https', 'jar', 'jrt'].map((protocol) => `sun.net.www.protocol.${protocol}`),
];
const JAVA_OPTIONS = [
  '-Xmx1g',
  '-Duser.timezone=UTC',
  ...OPENED.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  '--add-exports=jdk.naming.rmi/com.sun.jndi.rmi.registry=ALL-UNNAMED',
];

/** Kill Bill in Tomcat, with a PostgreSQL server of its own that has the settings of Lunas' one. */
export interface KillBillServer {
  readonly url: string;
  readonly databaseUrl: string;
  readonly processes: Processes;
  close(): Promise<void>;
}

/** @param directory is created, and is not removed */
export async function startKillBill(artifacts: KillBillArtifacts, directory: string): Promise<KillBillServer> {
  const { signal } = new AbortController();
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const logFile = path.join(directory, 'postgres.log');
  const options = { directory: path.join(directory, 'postgres'), logFile, port: await freePort() };
  const cluster = await PostgresCluster.open(options, signal);
  const postgres = await cluster.start(signal);
  try {
    const databaseUrl = cluster.databaseUrl('kill_bill');
    await ensureDatabase(cluster.databaseUrl('postgres'), 'kill_bill');
    await createSchema(databaseUrl, artifacts);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const tomcat = await startTomcat({ artifacts, directory: path.join(directory, 'tomcat'), port, databaseUrl });
    return {
      url,
      databaseUrl,
      processes: () => ({ tomcat: tomcat.pid, postgres: postgres.pid }),
      async close() {
        await tomcat.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function createSchema(databaseUrl: string, { schema }: KillBillArtifacts): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    for (const file of schema) await client.query(await readFile(file, 'utf8'));
  });
}

interface TomcatOptions {
  readonly artifacts: KillBillArtifacts;
  readonly directory: string;
  readonly port: number;
  readonly databaseUrl: string;
}

async function startTomcat(tomcatOptions: TomcatOptions): Promise<ManagedProcess> {
  const { artifacts, directory, port, databaseUrl } = tomcatOptions;
  const { tomcat } = artifacts;
  const directories = ['logs', 'temp', 'work', 'webapps', 'bundles'].map((name) => path.join(directory, name));
  await Promise.all(directories.map((each) => mkdir(each, { recursive: true })));
  await configureTomcat(tomcatOptions);
  const classPath = ['bootstrap.jar', 'tomcat-juli.jar'].map((name) => path.join(tomcat, 'bin', name)).join(':');
  const system = { 'catalina.home': tomcat, 'catalina.base': directory, ...settingsOf(databaseUrl, directory) };
  const logFile = path.join(directory, 'logs', 'tomcat.log');
  const options = {
    command: 'java',
    args: [
      ...JAVA_OPTIONS,
      ...Object.entries(system).map(([name, value]) => `-D${name}=${value}`),
      '-cp',
      classPath,
      'org.apache.catalina.startup.Bootstrap',
      'start',
    ],
    cwd: directory,
    logFile,
    stopSignals: STOP_SIGNALS,
  };
  const isReady = async (server: ManagedProcess): Promise<true | undefined> => {
    if (!server.running) throw new Error(`Kill Bill ended at its start: ${await server.lastLogLines()}`);
    const response = await fetch(`http://127.0.0.1:${port}/1.0/healthcheck`).catch(() => undefined);
    return response?.status === 200 ? true : undefined;
  };
  const limits = { timeoutMs: START_TIMEOUT_MS, signal: new AbortController().signal };
  return launch(options, (server) => pollUntil(`Kill Bill is ready (log: ${logFile})`, () => isReady(server), limits));
}

/** Tomcat's own configuration on another port, without a port for its shutdown, and without a log of requests. */
async function configureTomcat({ artifacts, directory, port }: TomcatOptions): Promise<void> {
  const configuration = path.join(directory, 'conf');
  await cp(path.join(artifacts.tomcat, 'conf'), configuration, { recursive: true });
  const server = path.join(configuration, 'server.xml');
  const shipped = await readFile(server, 'utf8');
  const changed = shipped
    .replace('port="8005"', 'port="-1"')
    .replace('port="8080"', `port="${port}" address="127.0.0.1"`)
    .replace(/<Valve [^>]*AccessLogValve[^>]*>/, '');
  await writeFile(server, changed);
  const contexts = path.join(configuration, 'Catalina', 'localhost');
  await mkdir(contexts, { recursive: true });
  await writeFile(path.join(contexts, 'ROOT.xml'), `<Context docBase="${artifacts.webapp}" />\n`);
}

function settingsOf(databaseUrl: string, directory: string): Record<string, string> {
  const { host, pathname, username, password } = new URL(databaseUrl);
  const url = `jdbc:postgresql://${host}${pathname}`;
  const login = ['org.killbill.dao', 'org.killbill.billing.osgi.dao'].flatMap((prefix) => [
    [`${prefix}.url`, url],
    [`${prefix}.user`, username],
    [`${prefix}.password`, password],
  ]);
  return {
    ...Object.fromEntries(login),
    'org.killbill.server.updateCheck.skip': 'true',
    // Not the default of 200,000, which each request repeats: 70 ms of CPU. Lunas hashes the secret of a key once.
    'org.killbill.security.shiroNbHashIterations': '1',
    'org.killbill.osgi.bundle.install.dir': path.join(directory, 'bundles'),
    'org.killbill.osgi.root.dir': path.join(directory, 'bundles'),
    'java.io.tmpdir': path.join(directory, 'temp'),
    'org.killbill.dao.maxActive': String(20 * os.availableParallelism()),
  };
}
