import { UserError } from '../config';

/** The first row. @throws UserError with `otherwise` when there is none */
export function requireRow<Row>(rows: readonly Row[], otherwise: string): Row {
  const [row] = rows;
  if (row === undefined) throw new UserError(otherwise);
  return row;
}
