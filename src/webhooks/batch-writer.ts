/** Writes items in batches. A batch collects items while the statement of the batch before it runs, and never waits for more. */
export function batchWriter<Item>(write: (items: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let inFlight: Promise<unknown> = Promise.resolve();
  let next: { readonly items: Item[]; readonly written: Promise<void> } | undefined;

  return (item) => {
    next ??= startBatch();
    next.items.push(item);
    return next.written;
  };

  function startBatch() {
    const items: Item[] = [];
    const written = inFlight.then(() => {
      next = undefined;
      return write(items);
    });
    inFlight = written.catch(() => undefined);
    return { items, written };
  }
}
