/** Writes items together that come while the statement of those before them runs: nobody waits for a batch to fill. */
export function batchWriter<Item>(write: (items: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let inFlight: Promise<unknown> = Promise.resolve();
  let next: { readonly items: Item[]; readonly written: Promise<void> } | undefined;

  return (item) => {
    next ??= startDelivery();
    next.items.push(item);
    return next.written;
  };

  function startDelivery() {
    const items: Item[] = [];
    const written = inFlight.then(() => {
      next = undefined;
      return write(items);
    });
    inFlight = written.catch(() => undefined);
    return { items, written };
  }
}
