import { type DestinationStream, pino, type Logger } from 'pino';

export type { Logger };

/** All of a merchant's secret key but its kind and its last four characters, wherever it stands in a line. */
const SECRET_KEY = /sk_(test|live)_[0-9A-Za-z]{35}(?=[0-9A-Za-z]{4})/g;

/**
 * The process's log: one JSON object a line on stderr, so that stdout stays free for a command's answer. Secret keys are
 * masked in every line, even where a caller has put one into an address or an error has carried it off.
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
