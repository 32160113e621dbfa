import type { HttpClient, RequestOptions } from './http';
import type { ListFilter, PaymentLinkFilter } from './types';

interface List {
  readonly path: string;
  /** The parameters of the query; a list is separated by commas. */
  readonly filter: ListFilter | PaymentLinkFilter;
  /** The member of the body that has the items. */
  readonly field: string;
}

/** All items of a list. The next page is requested when the iterator reaches it. */
export async function* listPages<Item>(
  http: HttpClient,
  { path, filter, field }: List,
  { signal }: RequestOptions,
): AsyncGenerator<Item, void, undefined> {
  let query: string | null = toQuery(filter);
  while (query !== null) {
    const page: { value: Item[]; headers: Headers } = await http.send(
      { method: 'GET', path: `${path}${query}`, signal },
      field,
    );
    yield* page.value;
    query = nextQuery(page.headers.get('link'));
  }
}

function toQuery(filter: List['filter']): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Only the query of `Link`: the key is never sent to an address that a response names. */
function nextQuery(link: string | null): string | null {
  const [, address] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  const start = address?.indexOf('?') ?? -1;
  return address === undefined || start === -1 ? null : address.slice(start);
}
