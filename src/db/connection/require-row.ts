import { NotFoundError, type ObjectKind } from '../../errors';

/** The first row. @throws NotFoundError if there is none */
export function requireRow<Row>(rows: readonly Row[], kind: ObjectKind, id: string): Row {
  const [row] = rows;
  if (row === undefined) throw new NotFoundError(kind, id);
  return row;
}

/** The first row of a statement that always has one. @throws Error with `otherwise` if there is none */
export function onlyRow<Row>(rows: readonly Row[], otherwise = 'PostgreSQL returned no row'): Row {
  const [row] = rows;
  if (row === undefined) throw new Error(otherwise);
  return row;
}
