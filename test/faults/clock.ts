/** From the Debian package `libfaketime`. The dynamic linker replaces `$LIB`. */
const LIBRARY = '/usr/$LIB/faketime/libfaketimeMT.so.1';
const VARIABLES = ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC'] as const;

/** The clock variables of this process, for a process that does not inherit its environment. */
export const OWN_CLOCK: NodeJS.ProcessEnv = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]));

/** The environment of a process whose clock is ahead of the machine's clock. Timers do not change. */
export function shiftedClock(offsetSeconds: number): NodeJS.ProcessEnv {
  const offset = `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}s`;
  return { LD_PRELOAD: LIBRARY, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** For a start that passes on the environment of this process. */
export async function withEnvironment<T>(environment: NodeJS.ProcessEnv, start: () => Promise<T>): Promise<T> {
  const before = Object.entries(environment).map(([name]) => [name, process.env[name]] as const);
  setEnvironment(Object.entries(environment));
  try {
    return await start();
  } finally {
    setEnvironment(before);
  }
}

function setEnvironment(variables: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
