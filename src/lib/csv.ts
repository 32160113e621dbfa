import { stringify } from 'csv-stringify/sync';

/** A number is written in digits, also below zero. */
export type CsvCell = string | number | null;

/** The columns of a file in their order: the name of each, and its cell of a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => CsvCell>>;

/** The cells of a row, in the order of the columns. */
export function csvCells<Row>(columns: CsvColumns<Row>, row: Row): CsvCell[] {
  return Object.values(columns).map((cellOf) => cellOf(row));
}

interface CsvFormat {
  readonly delimiter?: ';' | ',';
  /** With a byte order mark: these are the first lines of a file. */
  readonly bom?: boolean;
}

/**
 * Lines of a CSV file (RFC 4180) that no spreadsheet computes: a text that begins a formula gets an apostrophe. That
 * holds for every delimiter that the reader expects. Excel in Indonesian separates by a semicolon: in `A,"B;=1+1"` it
 * sees no quoted text, because the line does not begin with the quote.
 */
export function toCsv(rows: readonly (readonly CsvCell[])[], { delimiter = ',', bom = false }: CsvFormat = {}): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? safeText(cell) : cell)));
  return stringify(cells, { delimiter, bom, record_delimiter: 'windows' });
}

/** At the begin of a text, and of what another reader takes for a cell. The last four signs are full-width. */
const FORMULA = /((?:^|[;,\t])[\s"]*)(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g;
/** With such a reader, what follows a line break inside quotes is a row of its own. */
const LINE_BREAKS = /[\r\n\v\f\u0085\u2028\u2029]+/g;

function safeText(text: string): string {
  return text.replaceAll(LINE_BREAKS, ' ').replaceAll(FORMULA, "$1'");
}
