import stringWidth from 'string-width';
import { snakeCaseKeys } from '../lib/snake-case';

/** The result of a command, for programs and for terminals. */
export interface CommandResult {
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** An error beside the result: printed on stderr, and the command exits with 1. */
  readonly failure?: string;
}

type Cell = string | number | Date | readonly string[] | null | undefined;
type Cells = Readonly<Record<string, Cell>>;

/** One JSON document: keys in snake case, timestamps in ISO 8601. */
export function formatJson(document: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(snakeCaseKeys(document), null, 2)}\n`;
}

/** Aligned columns under their headings, which are the names in each row; `empty` if there are no rows. */
export function formatTable(rows: readonly Cells[], empty: string): string {
  if (!rows[0]) return empty;
  return formatColumns([Object.keys(rows[0]), ...rows.map((row) => Object.values(row).map(formatCell))]);
}

/** The line of a single row, without headings. */
export function formatRow(row: Cells): string {
  return formatColumns([Object.values(row).map(formatCell)]);
}

/** One line for each label and its value. */
export function formatFields(fields: Cells): string {
  return formatColumns(Object.entries(fields).map(([label, value]) => [label, formatCell(value)]));
}

function formatColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => stringWidth(line[column] ?? ''))));
  const pad = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell));
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

function formatCell(value: Cell): string {
  const text =
    value instanceof Date ? value.toISOString() : Array.isArray(value) ? value.join(', ') : String(value ?? '');
  return printable(text) || '-';
}

/** Names and messages of failures may contain control characters: a terminal would execute them. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\u{FFFD}');
}
