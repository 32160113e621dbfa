import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import type { Logger } from '../logger';
import { isAlreadyExists, isUnsupported } from './grpc-errors';

/** `temporal.api.enums.v1.IndexedValueType`, for the types that we use. */
const INDEXED_VALUE_TYPES = { KEYWORD: 2, BOOL: 5, DATETIME: 6 } as const;

/** Registers our search attributes in the namespace. Existing ones do not change. */
export async function registerSearchAttributes(client: Client, log: Logger): Promise<void> {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const ours = Object.values(SEARCH_ATTRIBUTES);
  try {
    const known = await operatorService.listSearchAttributes({ namespace });
    const missing = ours.filter((key) => !(key.name in (known.customAttributes ?? {})));
    const searchAttributes = Object.fromEntries(missing.map((key) => [key.name, INDEXED_VALUE_TYPES[key.type]]));
    if (missing.length > 0) await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (isAlreadyExists(error)) return; // Registered by another worker meanwhile.
    if (!isUnsupported(error)) throw error;
    const names = ours.map((key) => `${key.name} (${key.type})`).join(', ');
    log.warn(`cannot register search attributes; create them in the namespace: ${names}`);
  }
}
