import { readFile } from 'node:fs/promises';
import { codeOf, messageOf, UserError } from '../../errors';

const SECRET_KEY = /^sk_(?:test|live)_\w+$/;

interface GivenKey {
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
}

/**
 * The key of `--key-file` or `--key`, else of the environment, which only processes of the same user can read.
 * @throws UserError if there is none, if there are two, or if it is no secret key; the message does not show it
 */
export async function readListenKey({ key, keyFile }: GivenKey, fromEnvironment: string | undefined): Promise<string> {
  if (key !== undefined && keyFile !== undefined) throw new UserError('Give --key-file or --key, not both.');
  if (keyFile !== undefined) return requireKey('--key-file', await readKeyFile(keyFile));
  if (key !== undefined) return requireKey('--key', key);
  if (fromEnvironment !== undefined) return requireKey('LUNAS_KEY', fromEnvironment);
  throw new UserError('Set LUNAS_KEY to a secret key of the merchant, or give a file with it: --key-file PATH.');
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new UserError(`--key-file: ${path} cannot be read (${codeOf(error) ?? messageOf(error)}).`);
  }
}

function requireKey(source: string, key: string): string {
  if (SECRET_KEY.test(key)) return key;
  throw new UserError(`${source} must be a secret key of a merchant: sk_test_… or sk_live_…`);
}
