interface CutPage<Row> {
  readonly shown: readonly Row[];
  /** The last row of the page, behind which the next page begins; null: there is no next page. */
  readonly last: Row | null;
}

/**
 * The rows of a page of a list.
 * @param found the rows from its position on: one more than the page holds, if there are more
 */
export function cutPage<Row>(found: readonly Row[], size: number): CutPage<Row> {
  const shown = found.slice(0, size);
  return { shown, last: found.length > size ? (shown.at(-1) ?? null) : null };
}
