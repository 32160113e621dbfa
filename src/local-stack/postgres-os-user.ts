import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import which from 'which';
import { UserError } from '../errors';

/** How a PostgreSQL program is started: by itself, under another account, or through setpriv. */
export interface PostgresCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The folder that we were started in may be one that the account cannot enter. */
  readonly cwd: '/';
  readonly uid?: number;
  readonly gid?: number;
}

interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

/** The bits of the capabilities in /proc/self/status, the weaker one first. */
const CAPABILITIES = { dac_read_search: 2, dac_override: 1 } as const;
type Capability = keyof typeof CAPABILITIES;

const OTHERS_MAY_EXECUTE = 0o001;
const GROUP_MAY_EXECUTE = 0o010;
const OWNER_MAY_EXECUTE = 0o100;

/** The account that PostgreSQL runs as, which must own its data: `nobody` for root, else ourselves (null). */
export function postgresOsUser(): OsUser | null {
  if (process.getuid?.() !== 0) return null;
  return { uid: unprivilegedId('-u'), gid: unprivilegedId('-g') };
}

/**
 * PostgreSQL refuses to run as root. There it runs as `nobody`, and where that account cannot enter the folder of the
 * program or of the data (a `mktemp -d` folder, /root), with the one capability that opens the way.
 * @throws UserError where neither is possible
 */
export function asPostgresOsUser(program: string, args: readonly string[], dataDirectory: string): PostgresCommand {
  const user = postgresOsUser();
  if (!user) return { command: program, args, cwd: '/' };
  const inaccessible = [program, dataDirectory]
    .map((file) => inaccessibleParent(file, user))
    .find((directory) => directory !== null);
  const isProgramInaccessible = !mayExecute(program, user);
  if (inaccessible === undefined && !isProgramInaccessible) return { command: program, args, cwd: '/', ...user };

  const obstacle = `PostgreSQL does not run as root, and the OS user "nobody" may not enter ${inaccessible ?? program}`;
  const setpriv = which.sync('setpriv', { nothrow: true });
  const capability = availableCapability(
    isProgramInaccessible ? ['dac_override'] : ['dac_read_search', 'dac_override'],
  );
  if (!setpriv || !capability) {
    const lacking = setpriv ? 'the capability dac_read_search' : 'the command setpriv (package util-linux)';
    throw new UserError(
      `${obstacle}. Run as an ordinary user, open that directory with chmod o+x, or provide ${lacking}.`,
    );
  }
  const privileges = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const capabilities = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`];
  // PostgreSQL looks for its own programs with access(2), which forgets capabilities unless this bit is set.
  const flags = [...privileges, ...capabilities, '--securebits=+no_setuid_fixup'];
  return { command: setpriv, args: [...flags, '--', program, ...args], cwd: '/' };
}

/** The topmost folder above a file that the account may not enter. */
function inaccessibleParent(file: string, user: OsUser): string | null {
  const directory = path.dirname(file);
  const above = directory === path.dirname(directory) ? null : inaccessibleParent(directory, user);
  return above ?? (mayExecute(directory, user) ? null : directory);
}

function mayExecute(file: string, user: OsUser): boolean {
  const { mode, uid, gid } = statSync(file);
  if (uid === user.uid) return (mode & OWNER_MAY_EXECUTE) !== 0;
  if (gid === user.gid) return (mode & GROUP_MAY_EXECUTE) !== 0;
  return (mode & OTHERS_MAY_EXECUTE) !== 0;
}

function availableCapability(candidates: readonly Capability[]): Capability | undefined {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return candidates.find((name) => (BigInt(`0x${effective}`) >> BigInt(CAPABILITIES[name])) & 1n);
}

function unprivilegedId(flag: '-u' | '-g'): number {
  // macOS prints -2.
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })) >>> 0;
}
