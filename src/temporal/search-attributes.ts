import { status } from '@grpc/grpc-js';
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { hasStatus, isAlreadyExists, isUnsupported } from './grpc-errors';

/** For the types that we use: `temporal.api.enums.v1.IndexedValueType`, the name in commands, a valid condition. */
const TYPES = {
  KEYWORD: { value: 2, title: 'Keyword', condition: "= 'x'" },
  BOOL: { value: 5, title: 'Bool', condition: '= true' },
  DATETIME: { value: 6, title: 'Datetime', condition: "> '2020-01-01T00:00:00Z'" },
} as const;

interface OurSearchAttribute {
  readonly name: string;
  readonly type: keyof typeof TYPES;
}

/** What the service writes and searches by. */
const OURS: readonly OurSearchAttribute[] = Object.values(SEARCH_ATTRIBUTES);

type Listed = Readonly<Record<string, number>>;

/** Names each search attribute of ours that is absent or has another type; null if none is. */
export async function searchAttributesViolation(client: Client): Promise<string | null> {
  const listed = await listSearchAttributes(client);
  const violations = await Promise.all(
    OURS.map(async (attribute) => {
      const state = listed ? stateIn(listed, attribute) : await stateBySearch(client, attribute);
      return state === 'ok' ? [] : [`${attribute.name} (${TYPES[attribute.type].title}) ${state}`];
    }),
  );
  const sentence = violations.flat().join(', ');
  return sentence === '' ? null : `Search attributes: ${sentence}.`;
}

/**
 * Creates those that are absent. Existing ones do not change.
 * @throws Error if one has another type: nothing is created then
 */
export async function addSearchAttributes(client: Client): Promise<void> {
  const { namespace } = client.options;
  const listed = (await listSearchAttributes(client)) ?? {};
  const other = OURS.filter((attribute) => stateIn(listed, attribute) === 'has another type').map(({ name }) => name);
  if (other.length > 0) throw new Error(`the type of ${other.join(', ')} cannot change`);
  const missing = OURS.filter(({ name }) => !(name in listed));
  const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, TYPES[type].value]));
  if (missing.length === 0) return;
  try {
    await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error; // Another process created them meanwhile.
  }
}

/** The types by name; null if the server does not list them, such as Temporal Cloud. */
async function listSearchAttributes({ connection, options: { namespace } }: Client): Promise<Listed | null> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return customAttributes ?? {};
  } catch (error) {
    if (isUnsupported(error)) return null;
    throw error;
  }
}

type AttributeState = 'ok' | 'is absent' | 'has another type' | 'is absent or has another type';

function stateIn(listed: Listed, { name, type }: OurSearchAttribute): AttributeState {
  const found = listed[name];
  if (found === undefined) return 'is absent';
  return found === TYPES[type].value ? 'ok' : 'has another type';
}

/** A search by an absent attribute is invalid. Everyone who can read workflows can search. */
async function stateBySearch(
  { workflowService, options: { namespace } }: Client,
  { name, type }: OurSearchAttribute,
): Promise<AttributeState> {
  try {
    await workflowService.countWorkflowExecutions({ namespace, query: `${name} ${TYPES[type].condition}` });
    return 'ok';
  } catch (error) {
    if (hasStatus(error, [status.INVALID_ARGUMENT])) return 'is absent or has another type';
    throw error;
  }
}
