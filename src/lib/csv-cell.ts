/** A number is written in digits, also below zero. */
export type CsvCell = string | number | null;

const FORMULA_AFTER_DELIMITER = /([;,\t]\s*)(?=[=+\-@])/g;

/**
 * A text in which no part begins a formula if the file is read with another delimiter: Excel in Indonesian separates by
 * a semicolon, and would compute the part of `A;=1+1` after it, quoted or not. `escape_formulas` of csv-stringify
 * escapes the first sign of a cell.
 */
export function escapeFormulaParts(cell: CsvCell): CsvCell {
  return typeof cell === 'string' ? cell.replaceAll(FORMULA_AFTER_DELIMITER, "$1'") : cell;
}
