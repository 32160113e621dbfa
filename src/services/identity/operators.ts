import { v7 as uuidv7 } from 'uuid';
import type { Environment } from '../../config';
import { createOperatorKey, maskSecretKey, parseOperatorKey } from '../../crypto/secret-key';
import { findCell } from '../../db/connection/environment';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import { KEY_ACCESS_COLUMNS, networksOf } from '../../db/merchants/key-access-columns';
import type { KeyAccess, NewKeyAccess, OperatorScope } from '../../domain/key-access';
import { ConflictError } from '../../errors';

/** Staff, or a program, with a key of the operator API. The secret of the key is shown once. */
export interface Operator extends KeyAccess<OperatorScope> {
  readonly id: string;
  readonly name: string;
  /** `op_test_…` and the last four characters. */
  readonly masked: string;
  readonly createdAt: Date;
  /** The id of the operator who created it. Null: the first one. */
  readonly createdBy: string | null;
  /** The person's login of PostgreSQL, with which alone this operator decides. Null: in production it only reads. */
  readonly login: string | null;
  /** The login that has set the key. It decides nothing that is requested with the key. */
  readonly keySetBy: string;
  readonly revokedAt: Date | null;
  /** False: the key is not accepted until a second operator approves the operator. */
  readonly isApproved: boolean;
}

export interface NewOperator extends NewKeyAccess<OperatorScope> {
  readonly name: string;
  readonly environment: Environment;
  /** The id of the operator who creates it; absent for the first one. */
  readonly createdBy?: string | undefined;
  readonly login?: string | undefined;
  /** Absent: true. */
  readonly isApproved?: boolean;
}

/** An operator whose key is neither revoked nor expired, and whether the caller's address may use it. */
export interface OperatorKeyRow extends Pick<Operator, 'id' | 'name' | 'scopes'> {
  readonly addressAllowed: boolean;
}

/** A row of `OPERATOR_COLUMNS`. */
export type OperatorRow = Omit<Operator, 'masked'> & { readonly prefix: string; readonly lastFour: string };

export const OPERATOR_COLUMNS = `id, name, prefix, last_four as "lastFour", ${KEY_ACCESS_COLUMNS},
  created_at as "createdAt", created_by as "createdBy", login, secret_login as "keySetBy", revoked_at as "revokedAt",
  is_approved as "isApproved"`;

const IS_ACTIVE = 'is_accepted(operators)';

/**
 * Stores the hash of a new operator's key; only the result contains the secret.
 * @throws ConflictError if another operator has this name, or this login
 */
export async function insertOperator(
  db: Queryable,
  { name, environment, allowedNetworks = [], scopes, expiresAt, createdBy, login, isApproved = true }: NewOperator,
): Promise<Operator & { readonly secret: string }> {
  const { secret, secretSha256, prefix, lastFour } = createOperatorKey(environment, await findCell(db));
  const { rows } = await db.query<OperatorRow>(
    `insert into operators (id, name, secret_sha256, prefix, last_four, allowed_networks, scopes, expires_at,
       created_by, is_approved, login)
     values ($1, $2, $3, $4, $5, ${networksOf('$6')}, $7, $8, $9, $10, $11)
     on conflict do nothing returning ${OPERATOR_COLUMNS}`,
    [uuidv7(), name, secretSha256, prefix, lastFour, allowedNetworks, scopes, expiresAt, createdBy, isApproved, login],
  );
  if (!rows[0])
    throw new ConflictError('operator_exists', `There is an operator ${name} already, or one of this login.`);
  return { ...describeOperator(rows[0]), secret };
}

/** In the order of their creation, revoked ones included. */
export async function listOperators(db: Queryable): Promise<Operator[]> {
  const { rows } = await db.query<OperatorRow>(`select ${OPERATOR_COLUMNS} from operators order by created_at, id`);
  return rows.map(describeOperator);
}

/** @throws NotFoundError if there is no such operator */
export async function findOperatorById(db: Queryable, operatorId: string): Promise<Operator> {
  const { rows } = await db.query<OperatorRow>(`select ${OPERATOR_COLUMNS} from operators where id = $1`, [operatorId]);
  return describeOperator(requireRow(rows, 'operator', operatorId));
}

/** The number of operators whose keys may run commands that write: those are valid and have no scopes. */
export async function countCommandOperators(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from operators where ${IS_ACTIVE} and scopes is null`,
  );
  return rows[0]?.count ?? 0;
}

/**
 * The owner of the key; undefined if the key is unknown, revoked or expired.
 * @param address the caller's IP address, mapped IPv6 already unwrapped; null for a command, which has none
 */
export async function findOperator(
  db: Queryable,
  secretSha256: Buffer,
  address: string | null,
): Promise<OperatorKeyRow | undefined> {
  const { rows } = await db.query<OperatorKeyRow>({
    name: 'find_operator',
    text: `select id, name, scopes,
        ($2::inet is null or allowed_networks = '{}' or $2::inet <<= any (allowed_networks)) as "addressAllowed"
      from operators
      where secret_sha256 = $1 and ${IS_ACTIVE}`,
    values: [secretSha256, address],
  });
  return rows[0];
}

/** The codec server listens only there. */
const LOOPBACK = '127.0.0.1';

/** Finds the operator whose secret key may read from loopback; undefined if the key is unknown or may not. */
export function operatorFinder(
  db: Queryable,
  environment: Environment,
): (secretKey: string) => Promise<OperatorKeyRow | undefined> {
  return async (secretKey) => {
    const key = parseOperatorKey(secretKey, environment);
    const operator = key && (await findOperator(db, key.secretSha256, LOOPBACK));
    if (!operator?.addressAllowed) return undefined;
    return operator.scopes === null || operator.scopes.includes('read') ? operator : undefined;
  };
}

export function describeOperator({ prefix, lastFour, ...operator }: OperatorRow): Operator {
  return { ...operator, masked: maskSecretKey({ prefix, lastFour }) };
}
