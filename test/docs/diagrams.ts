import { isFinal, PAYMENT_STATUSES, PAYMENT_TRANSITIONS } from '../../src/domain/payment-transitions';

/** Mermaid: one edge for each transition, in the order of the table. */
export function renderStateDiagram(): string {
  const edges = Object.entries(PAYMENT_TRANSITIONS).map(
    ([name, { from, to }]) => `  ${from ?? '[*]'} --> ${to}: ${name}`,
  );
  const ends = PAYMENT_STATUSES.filter(isFinal).map((status) => `  ${status} --> [*]`);
  return mermaid(['stateDiagram-v2', ...edges, ...ends]);
}

interface Table {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isNullable: boolean }[];
}

interface Key {
  readonly table: string;
  readonly columns: readonly string[];
}

interface Reference extends Key {
  readonly parent: string;
}

const TABLE = /^create table (\w+) \(\n([^]*?)\n\);$/gm;
const COLUMN = /^ {2}(\w+) (.*)$/gm;
const PRIMARY_KEY = /^alter table (\w+) add constraint \w+ PRIMARY KEY \(([^)]+)\)(?: INCLUDE \(.+\))?;$/gm;
const UNIQUE = /^alter table (\w+) add constraint \w+ UNIQUE \((.+)\);$/gm;
const REFERENCE = /^alter table (\w+) add constraint \w+ FOREIGN KEY \((.+)\) REFERENCES (\w+)\(.+\);$/gm;

/**
 * Mermaid: one relation for each foreign key, which names its columns.
 * @param schema the text of `dumpSchema`
 */
export function renderEntityDiagram(schema: string): string {
  const tables = [...schema.matchAll(TABLE)].map(([, name = '', body = '']) => ({ name, columns: columnsOf(body) }));
  const uniqueKeys = [...keysIn(schema, PRIMARY_KEY), ...keysIn(schema, UNIQUE)];
  const references = [...schema.matchAll(REFERENCE)].map(([, table = '', columns = '', parent = '']) => ({
    table,
    columns: columns.split(', '),
    parent,
  }));
  return mermaid(['erDiagram', ...references.map((reference) => relation(reference, tables, uniqueKeys))]);
}

function columnsOf(body: string): Table['columns'] {
  return [...body.matchAll(COLUMN)].map(([, name = '', rest = '']) => ({
    name,
    isNullable: !rest.includes(' not null'),
  }));
}

function keysIn(schema: string, pattern: RegExp): Key[] {
  return [...schema.matchAll(pattern)].map(([, table = '', columns = '']) => ({ table, columns: columns.split(', ') }));
}

/** How many rows of the child refer to one row: at most one if the columns are a key of the child. */
function relation(reference: Reference, tables: readonly Table[], uniqueKeys: readonly Key[]): string {
  const { table, columns, parent } = reference;
  const child = tables.find(({ name }) => name === table);
  const isOptional = child?.columns.some(({ name, isNullable }) => isNullable && columns.includes(name)) ?? false;
  const isUnique = uniqueKeys.some((key) => key.table === table && key.columns.every((key) => columns.includes(key)));
  return `  ${parent} ${isOptional ? '|o' : '||'}--${isUnique ? 'o|' : 'o{'} ${table} : "${columns.join(', ')}"`;
}

function mermaid(lines: readonly string[]): string {
  return ['```mermaid', ...lines, '```'].join('\n');
}
