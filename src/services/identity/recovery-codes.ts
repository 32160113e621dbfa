import { hash, randomBytes } from 'node:crypto';
import type { Queryable } from '../../db/connection/pool';
import { countUnusedRecoveryCodes, replaceRecoveryCodeRows, takeRecoveryCode } from '../../db/identity/recovery-codes';
import { FEW_RECOVERY_CODES, formatRecoveryCode, parseRecoveryCode, RECOVERY_CODES } from '../../domain/recovery-codes';
import type { Realm } from '../../domain/sign-in';
import { SignInError } from '../../errors';

const RANDOM_BYTES = 10;

/** Replaces all recovery codes of the user. Only the result has the new ones. */
export async function createRecoveryCodes(
  db: Queryable,
  { id: userId, realm }: { readonly id: string; readonly realm: Realm },
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => formatRecoveryCode(randomBytes(RANDOM_BYTES)));
  await replaceRecoveryCodeRows(db, { userId, realm, hashes: codes.map(hashOf) });
  return codes;
}

/**
 * Uses a recovery code, which is good once.
 * @param text as the user typed it
 * @throws SignInError `code`
 */
export async function spendRecoveryCode(db: Queryable, userId: string, text: string, now: Date): Promise<void> {
  const code = parseRecoveryCode(text);
  if (code === undefined || !(await takeRecoveryCode(db, userId, hashOf(code), now))) {
    throw new SignInError('code', 'The recovery code is wrong, or it was used before.');
  }
}

/** How many unused codes the user has, and whether that is too few. */
export async function countRecoveryCodes(
  db: Queryable,
  userId: string,
): Promise<{ readonly unused: number; readonly isFew: boolean }> {
  const unused = await countUnusedRecoveryCodes(db, userId);
  return { unused, isFew: unused < FEW_RECOVERY_CODES };
}

/** 80 random bits need no slow hash. */
const hashOf = (code: string) => hash('sha256', code, 'buffer');
