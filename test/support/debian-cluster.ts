import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../src/local-stack/ports';
import { withClient } from '../../src/local-stack/postgres';
import { eventually } from './eventually';
import { readSection } from './marked-section';

const PAGE = 'docs/operations/backup.md';
/** Both programs come from Debian 12 (scripts/install-test-tools.sh). */
const VERSION = '15';
const OS_USER = 'postgres';
const SUPERUSER = 'lunas';
const COMMAND_TIMEOUT_MS = 300_000;

/** Marked sections of the page with commands of `postgres`, in the order of the page. */
type Section = 'archive' | 'backup' | 'restore-all' | 'restore-second' | 'start';
export type ClusterName = 'lunas' | 'temporal';

/** Paths and ports of the page, which the drill replaces by its own. */
type Replacements = Readonly<Record<string, string>>;

/** One repository of pgBackRest, and the clusters of Debian that it backs up, in a directory of their own. */
export class DebianClusters {
  readonly #password = randomBytes(24).toString('hex');

  private constructor(
    private readonly directory: string,
    private readonly ports: Readonly<Record<ClusterName, number>>,
    private readonly log: (line: string) => void,
  ) {}

  /** @param directory must be open to the OS user `postgres` (o+x on each parent) */
  static async open(directory: string, log: (line: string) => void): Promise<DebianClusters> {
    const ports = { lunas: await freePort(), temporal: await freePort() };
    const clusters = new DebianClusters(directory, ports, log);
    await mkdir(directory);
    execFileSync('chown', [OS_USER, directory]);
    const directories = ['etc', 'repository', 'log', 'lock', 'spool', VERSION].map((name) =>
      path.join(directory, name),
    );
    await clusters.#asPostgres(`mkdir ${directories.join(' ')}`);
    const config = path.join(directory, 'pgbackrest.conf');
    const [text = ''] =
      /(?<=^```ini\n).*?(?=^```$)/ms.exec(readSection({ page: PAGE, kind: 'file', name: 'pgbackrest.conf' })) ?? [];
    await writeFile(config, replaceAll(text, clusters.#replacements));
    await chmod(config, 0o644);
    return clusters;
  }

  databaseUrl(name: ClusterName, database: string): string {
    return `postgresql://${SUPERUSER}:${this.#password}@127.0.0.1:${this.ports[name]}/${database}`;
  }

  /** Creates a cluster as Debian's package does, with a superuser for the drill. */
  async create(name: ClusterName): Promise<void> {
    const { directory, ports } = this;
    const options = `--datadir ${this.#data(name)} --port ${ports[name]} --logfile ${directory}/${name}.log`;
    await this.#asPostgres(`pg_createcluster ${VERSION} ${name} ${options} -- --data-checksums`);
    const environment = Object.entries(this.#pgBackRest).map(([variable, value]) => `${variable} = '${value}'\n`);
    await writeFile(path.join(directory, 'etc', VERSION, name, 'environment'), environment.join(''));
    await this.#asPostgres(`pg_ctlcluster ${VERSION} ${name} start`);
    const superuser = `create role ${SUPERUSER} superuser login password '${this.#password}'`;
    await this.#asPostgres(`psql --cluster ${VERSION}/${name} --quiet --command "${superuser}"`);
  }

  /** Runs a section of the page. @returns what it printed */
  async run(section: Section, name: ClusterName, given: Replacements = {}): Promise<string> {
    const script = commandsIn(readSection({ page: PAGE, kind: 'sh', name: section }));
    const commands = replaceAll(script, { ...this.#replacements, ...given });
    for (const line of commands.split('\n')) this.log(`${name}$ ${line}`);
    return this.#asPostgres(commands, { CLUSTER: name });
  }

  /** Kills a cluster's processes and deletes its data, as a lost disk does. */
  async lose(name: ClusterName): Promise<void> {
    const data = this.#data(name);
    await this.kill(name);
    await Promise.all((await readdir(data)).map((file) => rm(path.join(data, file), { recursive: true })));
  }

  /** Stops a cluster with SIGQUIT: it ends without a checkpoint. */
  async kill(name: ClusterName): Promise<void> {
    const [pid = ''] = (await readFile(path.join(this.#data(name), 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGQUIT');
    await eventually(
      async () => isRunning(Number(pid)),
      (isRunningStill) => !isRunningStill,
    );
  }

  /** Starts a cluster by the page. @returns the time of the last transaction that came back */
  async startRestored(name: ClusterName): Promise<Date> {
    await this.run('start', name);
    const url = this.databaseUrl(name, 'postgres');
    const read = 'select pg_is_in_recovery() as "isReplaying", pg_last_xact_replay_timestamp() as "lastAt"';
    const state = await eventually(
      () =>
        withClient(url, async (client) => (await client.query<{ isReplaying: boolean; lastAt: Date }>(read)).rows[0]),
      (found) => found?.isReplaying === false,
    );
    if (!state) throw new Error('PostgreSQL returned no state');
    return state.lastAt;
  }

  /** The size of a cluster's files, and of the repository. */
  async size(name: ClusterName): Promise<{ readonly size: string }> {
    const text = await this.#asPostgres(`du -sh ${this.#data(name)} ${this.directory}/repository | cut -f 1`);
    const [data = '', repository = ''] = text.split('\n');
    return { size: `${data} of data, ${repository} of backups` };
  }

  async close(): Promise<void> {
    for (const name of await readdir(path.join(this.directory, 'etc', VERSION))) {
      await this.#asPostgres(`pg_ctlcluster ${VERSION} ${name} stop -m immediate || true`);
    }
  }

  #data(name: ClusterName): string {
    return path.join(this.directory, VERSION, name);
  }

  get #replacements(): Replacements {
    return {
      '/var/lib/pgbackrest': `${this.directory}/repository`,
      [`/var/lib/postgresql/${VERSION}`]: `${this.directory}/${VERSION}`,
      '5432': String(this.ports.lunas),
      '5433': String(this.ports.temporal),
      PASSPHRASE: this.#password,
    };
  }

  get #pgBackRest(): NodeJS.ProcessEnv {
    const { directory } = this;
    return {
      PGBACKREST_CONFIG: `${directory}/pgbackrest.conf`,
      PGBACKREST_LOG_PATH: `${directory}/log`,
      PGBACKREST_LOCK_PATH: `${directory}/lock`,
      PGBACKREST_SPOOL_PATH: `${directory}/spool`,
    };
  }

  async #asPostgres(script: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const asUser = process.getuid?.() === 0 ? ['runuser', '-u', OS_USER, '--'] : [];
    const [command, ...args] = [...asUser, 'bash', '-euo', 'pipefail', '-c', script];
    const env = {
      PATH: process.env.PATH,
      PG_CLUSTER_CONF_ROOT: path.join(this.directory, 'etc'),
      ...this.#pgBackRest,
      ...environment,
    };
    const options = { cwd: '/', env, timeout: COMMAND_TIMEOUT_MS };
    const run = promisify(execFile)(command, args, options);
    const { stdout } = await run.catch((failed: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`${script}\n${failed.stdout}${failed.stderr}`);
    });
    return stdout;
  }
}

/** The lines of the block in a section, as they are. */
export function commandsIn(section: string): string {
  return section.replaceAll(/^```$/gm, '').trim();
}

function replaceAll(text: string, replacements: Replacements): string {
  return Object.entries(replacements).reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
