/** Writes items in batches: a batch collects items only while the batch before it is written. */
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
