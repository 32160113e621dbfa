import { z } from 'zod';
import type { KillPoint } from './kill-points';

/** The harness arms a breakpoint, removes it, or resumes the payment that waits there. */
export const commandSchema = z.union([
  z.object({ arm: z.string(), occurrence: z.number() }),
  z.object({ disarm: z.literal(true) }),
  z.object({ resume: z.literal(true) }),
]);
export type BreakpointCommand = z.infer<typeof commandSchema>;

/** A process is ready, or a payment has reached the breakpoint. */
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

/** If the harness has armed this point, reports it and waits until the harness has killed its victim and resumes. */
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
