import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../config';
import { findOnPath } from './find-on-path';

/** How a PostgreSQL program is started: by itself, under another account, or through setpriv. */
export interface PostgresCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The folder that we were started in may be one that the account cannot enter. */
  readonly cwd: '/';
  readonly uid?: number;
  readonly gid?: number;
}

interface Account {
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
export function postgresAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  return { uid: idOfNobody('-u'), gid: idOfNobody('-g') };
}

/**
 * PostgreSQL refuses to run as root. There it runs as `nobody`, and where that account cannot enter the folder of the
 * program or of the data (a `mktemp -d` folder, /root), with the one capability that opens the way.
 * @throws UserError where neither is possible
 */
export function asPostgresAccount(program: string, args: readonly string[], dataFolder: string): PostgresCommand {
  const account = postgresAccount();
  if (!account) return { command: program, args, cwd: '/' };
  const blocked = [program, dataFolder]
    .map((file) => closedFolderAbove(file, account))
    .find((folder) => folder !== null);
  const closedProgram = !mayExecute(program, account);
  if (blocked === undefined && !closedProgram) return { command: program, args, cwd: '/', ...account };

  const obstacle = `PostgreSQL does not run as root, and the account "nobody" may not enter ${blocked ?? program}`;
  const setpriv = findOnPath('setpriv');
  const capability = availableCapability(closedProgram ? ['dac_override'] : ['dac_read_search', 'dac_override']);
  if (!setpriv || !capability) {
    const lacking = setpriv ? 'the capability dac_read_search' : 'the command setpriv (package util-linux)';
    throw new UserError(
      `${obstacle}. Run as an ordinary user, open that folder with chmod o+x, or provide ${lacking}.`,
    );
  }
  const privileges = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  const capabilities = [`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`];
  // PostgreSQL looks for its own programs with access(2), which forgets capabilities unless this bit is set.
  const flags = [...privileges, ...capabilities, '--securebits=+no_setuid_fixup'];
  return { command: setpriv, args: [...flags, '--', program, ...args], cwd: '/' };
}

/** The topmost folder above a file that the account may not enter. */
function closedFolderAbove(file: string, account: Account): string | null {
  const folder = path.dirname(file);
  const above = folder === path.dirname(folder) ? null : closedFolderAbove(folder, account);
  return above ?? (mayExecute(folder, account) ? null : folder);
}

function mayExecute(file: string, account: Account): boolean {
  const { mode, uid, gid } = statSync(file);
  if (uid === account.uid) return (mode & OWNER_MAY_EXECUTE) !== 0;
  if (gid === account.gid) return (mode & GROUP_MAY_EXECUTE) !== 0;
  return (mode & OTHERS_MAY_EXECUTE) !== 0;
}

function availableCapability(wanted: readonly Capability[]): Capability | undefined {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return wanted.find((name) => (BigInt(`0x${effective}`) >> BigInt(CAPABILITIES[name])) & 1n);
}

function idOfNobody(flag: '-u' | '-g'): number {
  // macOS prints -2.
  return Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })) >>> 0;
}
