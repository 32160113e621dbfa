import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

/** Opens an event stream. @returns its response, whose body goes on */
export async function openStream(address: string, headers: Record<string, string> = {}, method = 'GET') {
  const [response]: IncomingMessage[] = await once(request(address, { headers, method }).end(), 'response');
  if (!response) throw new Error('There was no response');
  return response;
}

/** Opens as many streams at the same time. */
export function openStreams(count: number, open: (index: number) => Promise<IncomingMessage>) {
  return Promise.all(Array.from({ length: count }, (_, index) => open(index)));
}

/** Which statuses the responses have. */
export const statusesOf = (streams: readonly IncomingMessage[]) => [
  ...new Set(streams.map(({ statusCode }) => statusCode)),
];

/** Closes the connections: the server notices it some time later. */
export function destroyAll(streams: readonly IncomingMessage[]): void {
  for (const stream of streams) stream.destroy();
}
