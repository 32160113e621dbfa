import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { isAlreadyExists } from './already-exists';

/** `temporal.api.enums.v1.IndexedValueType`, for the types that we use. */
const INDEXED_VALUE_TYPES = { KEYWORD: 2, BOOL: 5, DATETIME: 6 } as const;

/** Makes our search attributes known to the namespace. Those that are there already stay. */
export async function registerSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const known = await client.connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(SEARCH_ATTRIBUTES).filter((key) => !(key.name in (known.customAttributes ?? {})));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((key) => [key.name, INDEXED_VALUE_TYPES[key.type]]));
  try {
    await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another worker was faster.
    if (!isAlreadyExists(error)) throw error;
  }
}
