import { type DestinationStream, pino, type Logger } from 'pino';

export type { Logger };

/** A merchant's secret key without its last four characters, anywhere in a line. */
const SECRET_KEY = /sk_(test|live)_[0-9A-Za-z]{35}(?=[0-9A-Za-z]{4})/g;

/**
 * The process's log: one JSON object per line on stderr, because stdout has the results of commands. Secret keys are
 * masked in every line, also if an address or an error contains one.
 */
export function createLogger(
  process: string,
  level: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: false }),
): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: (line) => line.replaceAll(SECRET_KEY, 'sk_$1_…') },
      redact: ['secret', '*.secret', 'authorization', '*.authorization', 'serverKey', '*.serverKey'],
    },
    destination,
  );
}
