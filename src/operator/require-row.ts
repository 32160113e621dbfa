import { UserError } from '../config';

/** What was named does not exist, or is not there to be worked on any more. */
export class NotFoundError extends UserError {}

/** The first row. @throws NotFoundError with `otherwise` when there is none */
export function requireRow<Row>(rows: readonly Row[], otherwise: string): Row {
  const [row] = rows;
  if (row === undefined) throw new NotFoundError(otherwise);
  return row;
}
