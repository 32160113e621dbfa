import { NotFoundError } from '../../errors';

/** The first row. @throws NotFoundError with `otherwise` if there is none */
export function requireRow<Row>(rows: readonly Row[], otherwise: string): Row {
  const [row] = rows;
  if (row === undefined) throw new NotFoundError(otherwise);
  return row;
}
