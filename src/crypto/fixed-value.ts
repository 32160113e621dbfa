import type { Queryable } from '../db/connection/pool';
import { DerivedKeys } from './derived-keys';
import { isKeyedHashOf, keyedHash } from './keyed-hash';
import type { SealBinding, Sealer } from './sealing';

const KEY = 'lunas sealed value hashes';

/** A sealed value beside its keyed hash, which is set with it and which no statement of an operator changes. */
export interface FixedValue {
  readonly sealed: string;
  readonly hash: string;
}

/*
 * Sealing alone does not fix a value: an operator has the master key, and may write the column to seal it again. So a
 * value that decides where money goes, or who signs in, has a hash in a column that is final.
 */

/** Seals a value for its row, with its hash. */
export function fixValue(sealer: Sealer, value: string, binding: SealBinding): FixedValue {
  const { current } = sealer.keys;
  const hash = keyedHash(textOf(value, binding), { keyId: current.id, key: current.derive(KEY) });
  return { sealed: sealer.seal(value, binding), hash };
}

/**
 * Opens a value and compares it with its hash, which has the key of the first sealing for good.
 * @returns undefined if it is another value
 * @throws Error if it does not open, or if a master key is not known
 */
export async function openFixed(
  { db, sealer }: { readonly db: Queryable; readonly sealer: Sealer },
  { sealed, hash }: FixedValue,
  binding: SealBinding,
): Promise<string | undefined> {
  const value = sealer.open(sealed, binding);
  const isSame = await isKeyedHashOf(hash, textOf(value, binding), KEY, new DerivedKeys(db, sealer));
  return isSame ? value : undefined;
}

function textOf(value: string, binding: SealBinding): string {
  return JSON.stringify([...binding, value]);
}
