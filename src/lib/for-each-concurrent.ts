/**
 * Processes items with bounded concurrency; an item is read only when it can be processed.
 * @throws the first failure, once no item is being processed any more: a caller that repeats the work does so alone
 */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const drain = async () => {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) await work(next.value);
  };
  const drains = Array.from({ length: concurrency }, drain);
  try {
    await Promise.all(drains);
  } finally {
    await Promise.allSettled(drains);
  }
}
