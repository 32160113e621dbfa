import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../config';
import { UserError } from '../errors';
import type { Queryable } from '../db/pool';
import { requireRow } from '../db/require-row';
import { createOperatorKey, maskSecretKey } from '../keys/secret-key';

/** Staff, or a program, with a key of the operator API. The secret of the key is shown once. */
export interface Operator {
  readonly id: string;
  readonly name: string;
  /** `op_test_…` and the last four characters. */
  readonly masked: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

type OperatorRow = Omit<Operator, 'masked'> & { readonly prefix: string; readonly lastFour: string };

const OPERATOR_COLUMNS = `id, name, prefix, last_four as "lastFour", created_at as "createdAt",
  revoked_at as "revokedAt"`;

/**
 * Stores the hash of a new operator's key; only the result contains the secret.
 * @throws UserError if another operator has this name
 */
export async function createOperator(
  db: Queryable,
  { name, environment }: { readonly name: string; readonly environment: Config['LUNAS_ENVIRONMENT'] },
): Promise<Operator & { readonly secret: string }> {
  const { secret, secretSha256, prefix, lastFour } = createOperatorKey(environment);
  const { rows } = await db.query<OperatorRow>(
    `insert into operators (id, name, secret_sha256, prefix, last_four) values ($1, $2, $3, $4, $5)
     on conflict (name) where revoked_at is null do nothing returning ${OPERATOR_COLUMNS}`,
    [uuidv7(), name, secretSha256, prefix, lastFour],
  );
  if (!rows[0]) throw new UserError(`There is an operator ${name} already; lunas operators list shows them.`);
  return { ...describe(rows[0]), secret };
}

/** In the order of their creation, revoked ones included. */
export async function listOperators(db: Queryable): Promise<Operator[]> {
  const { rows } = await db.query<OperatorRow>(`select ${OPERATOR_COLUMNS} from operators order by created_at, id`);
  return rows.map(describe);
}

/** Permanent. An operator revoked before keeps its timestamp. @throws NotFoundError if there is no such operator */
export async function revokeOperator(db: Queryable, operatorId: string): Promise<Operator> {
  const { rows } = await db.query<OperatorRow>(
    `update operators set revoked_at = coalesce(revoked_at, now()) where id = $1 returning ${OPERATOR_COLUMNS}`,
    [operatorId],
  );
  return describe(requireRow(rows, `There is no operator ${operatorId}; lunas operators list shows them.`));
}

/** The owner of the key; undefined if the key is unknown or revoked. */
export async function findOperator(
  db: Queryable,
  secretSha256: Buffer,
): Promise<Pick<Operator, 'id' | 'name'> | undefined> {
  const { rows } = await db.query<Pick<Operator, 'id' | 'name'>>({
    name: 'find_operator',
    text: 'select id, name from operators where secret_sha256 = $1 and revoked_at is null',
    values: [secretSha256],
  });
  return rows[0];
}

function describe({ prefix, lastFour, ...operator }: OperatorRow): Operator {
  return { ...operator, masked: maskSecretKey({ prefix, lastFour }) };
}
