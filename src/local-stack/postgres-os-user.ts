import { execFileSync } from 'node:child_process';
import { constants, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import which from 'which';
import { UserError } from '../errors';
import type { Command } from './process-group';

interface OsUser {
  readonly uid: number;
  readonly gid: number;
}

const UNPRIVILEGED_USER = 'nobody';

/** Bit numbers in /proc/self/status, the weaker capability first. */
const CAPABILITIES = { dac_read_search: 2, dac_override: 1 } as const;
type Capability = keyof typeof CAPABILITIES;

/** The OS user that runs PostgreSQL and owns its data: unprivileged if we are root, else our own (null). */
export function postgresOsUser(): OsUser | null {
  if (process.getuid?.() !== 0) return null;
  return { uid: unprivilegedId('-u'), gid: unprivilegedId('-g') };
}

/**
 * How to start a PostgreSQL program: directly, as another OS user, or through setpriv. It runs in `/`, because the OS
 * user may not have access to our working directory. PostgreSQL does not run as root, so root starts it as an
 * unprivileged user. If that user has no access to the directory of the program or of the data (/root, or one of
 * `mktemp -d`), PostgreSQL gets the capability for it.
 * @throws UserError if neither is possible
 */
export function asPostgresOsUser(program: string, args: readonly string[], dataDirectory: string): Command {
  const user = postgresOsUser();
  if (!user) return { command: program, args, cwd: '/' };
  const inaccessible = [program, dataDirectory]
    .map((file) => inaccessibleParent(file, user))
    .find((directory) => directory !== null);
  const isProgramInaccessible = !mayExecute(program, user);
  if (inaccessible === undefined && !isProgramInaccessible) return { command: program, args, cwd: '/', ...user };

  const directory = inaccessible ?? program;
  const obstacle = `PostgreSQL does not run as root, and the OS user "${UNPRIVILEGED_USER}" may not enter ${directory}`;
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
  // PostgreSQL finds its programs by access(2), which ignores capabilities unless this bit is set.
  const flags = [...privileges, ...capabilities, '--securebits=+no_setuid_fixup'];
  return { command: setpriv, args: [...flags, '--', program, ...args], cwd: '/' };
}

/** The topmost parent directory of a file that the OS user has no access to. */
function inaccessibleParent(file: string, user: OsUser): string | null {
  const directory = path.dirname(file);
  const above = directory === path.dirname(directory) ? null : inaccessibleParent(directory, user);
  return above ?? (mayExecute(directory, user) ? null : directory);
}

function mayExecute(file: string, user: OsUser): boolean {
  const { mode, uid, gid } = statSync(file);
  if (uid === user.uid) return (mode & constants.S_IXUSR) !== 0;
  if (gid === user.gid) return (mode & constants.S_IXGRP) !== 0;
  return (mode & constants.S_IXOTH) !== 0;
}

function availableCapability(candidates: readonly Capability[]): Capability | undefined {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return candidates.find((name) => (BigInt(`0x${effective}`) >> BigInt(CAPABILITIES[name])) & 1n);
}

function unprivilegedId(flag: '-u' | '-g'): number {
  // macOS prints -2.
  return Number(execFileSync('id', [flag, UNPRIVILEGED_USER], { encoding: 'utf8' })) >>> 0;
}
