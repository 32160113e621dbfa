/** Writes items together that come while the statement of those before them runs: nobody waits for a batch to fill. */
export function inBatches<Item>(write: (items: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: { readonly items: Item[]; readonly written: Promise<void> } | undefined;

  return (item) => {
    next ??= begin();
    next.items.push(item);
    return next.written;
  };

  function begin() {
    const items: Item[] = [];
    const written = underWay.then(() => {
      next = undefined;
      return write(items);
    });
    underWay = written.catch(() => undefined);
    return { items, written };
  }
}
