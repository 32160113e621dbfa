import { Writable } from 'node:stream';
import { z } from 'zod';
import { createLogger, type Logger } from '../../src/observability/logger';

const lineSchema = z.looseObject({ msg: z.string() });

/** For what a test does not read. */
export const SILENT = createLogger('test', 'silent');

export interface CollectedLog {
  readonly log: Logger;
  text(): string;
  /** The lines with this message, or all. */
  lines(message?: string): z.infer<typeof lineSchema>[];
}

/** A log of the service that a test reads. */
export function collectLog(): CollectedLog {
  const written: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      done();
    },
  });
  return {
    log: createLogger('test', 'info', destination),
    text: () => written.join(''),
    lines(message) {
      const lines = written.map((line) => lineSchema.parse(JSON.parse(line)));
      return lines.filter(({ msg }) => message === undefined || msg === message);
    },
  };
}
