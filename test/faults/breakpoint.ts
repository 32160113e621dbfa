import { z } from 'zod';
import type { KillPoint } from './kill-points';

/** What the harness says to a process: report when a payment is at this point · go on. */
export const commandSchema = z.union([
  z.object({ arm: z.string(), occurrence: z.number() }),
  z.object({ disarm: z.literal(true) }),
  z.object({ resume: z.literal(true) }),
]);
export type BreakpointCommand = z.infer<typeof commandSchema>;

/** What a process says to the harness. */
export const reportSchema = z.union([z.object({ ready: z.literal(true) }), z.object({ reached: z.string() })]);
export type Report = z.infer<typeof reportSchema>;

let armed: { point: string; occurrencesLeft: number } | null = null;
let resume: () => void = () => undefined;

process.on('message', (message: unknown) => {
  const command = commandSchema.parse(message);
  if ('arm' in command) armed = { point: command.arm, occurrencesLeft: command.occurrence };
  else if ('disarm' in command) armed = null;
  else resume();
});

/**
 * A payment is at this point. Where the harness has set a trap here, tells it and stands still until it says so, which it
 * does after it has killed something: this process, or another one.
 */
export async function hitBreakpoint(point: KillPoint): Promise<void> {
  if (armed?.point !== point) return;
  armed.occurrencesLeft -= 1;
  if (armed.occurrencesLeft > 0) return;
  armed = null;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  report({ reached: point });
  await resumed;
}

export function report(what: Report): void {
  process.send?.(what);
}
