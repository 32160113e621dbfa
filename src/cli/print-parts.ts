import type { Terminal } from './terminal';

/** Waits while the reader of the output is slower than the database, so that memory does not grow. */
export async function printParts(parts: AsyncIterable<string>, { stdout }: Terminal): Promise<undefined> {
  for await (const part of parts) {
    if (!stdout.write(part)) await new Promise((resolve) => stdout.once('drain', resolve));
  }
}
