import { z } from 'zod';
import type { KillPoint } from './points';

/** What the harness says to a process: report when a payment is at this point · go on. */
export const orderSchema = z.union([
  z.object({ arm: z.string(), passage: z.number() }),
  z.object({ disarm: z.literal(true) }),
  z.object({ goOn: z.literal(true) }),
]);
export type Order = z.infer<typeof orderSchema>;

/** What a process says to the harness. */
export const reportSchema = z.union([z.object({ ready: z.literal(true) }), z.object({ reached: z.string() })]);
export type Report = z.infer<typeof reportSchema>;

let armed: { point: string; passagesLeft: number } | null = null;
let goOn: () => void = () => undefined;

process.on('message', (message: unknown) => {
  const order = orderSchema.parse(message);
  if ('arm' in order) armed = { point: order.arm, passagesLeft: order.passage };
  else if ('disarm' in order) armed = null;
  else goOn();
});

/**
 * A payment is at this point. Where the harness has set a trap here, tells it and stands still until it says so, which it
 * does after it has killed something: this process, or another one.
 */
export async function passing(point: KillPoint): Promise<void> {
  if (armed?.point !== point) return;
  armed.passagesLeft -= 1;
  if (armed.passagesLeft > 0) return;
  armed = null;
  const resumed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  report({ reached: point });
  await resumed;
}

export function report(what: Report): void {
  process.send?.(what);
}
