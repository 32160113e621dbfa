import { pino, type Logger } from 'pino';

export type { Logger };

/** The process's log: one JSON object a line on stderr, so that stdout stays free for a command's answer. */
export function createLogger(process: string, level: string): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['secret', '*.secret', 'authorization', '*.authorization', 'serverKey', '*.serverKey'],
    },
    pino.destination({ fd: 2, sync: false }),
  );
}
