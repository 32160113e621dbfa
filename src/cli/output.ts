import { snakeCaseKeys } from '../snake-case';

/** What a command has found out, for programs and for people. */
export interface CommandResult {
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** What is wrong all the same: told on stderr, and the command fails. */
  readonly failure?: string;
}

type Cell = string | number | Date | readonly string[] | null | undefined;

/** One JSON document: keys in snake case, instants in ISO 8601. */
export function formatJson(document: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(snakeCaseKeys(document), null, 2)}\n`;
}

/** Aligned columns under their headings; `empty` where there are no rows. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const cells = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((column) => formatCell(column(row)))),
  ];
  return formatColumns(cells);
}

/** A label and its value a line. */
export function formatFields(fields: Readonly<Record<string, Cell>>): string {
  return formatColumns(Object.entries(fields).map(([label, value]) => [label, formatCell(value)]));
}

function formatColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatCell(value: Cell): string {
  const text =
    value instanceof Date ? value.toISOString() : Array.isArray(value) ? value.join(', ') : String(value ?? '');
  // Control characters, which names may contain, never reach the terminal.
  return text.replaceAll(/\p{C}/gu, '\u{FFFD}') || '-';
}
