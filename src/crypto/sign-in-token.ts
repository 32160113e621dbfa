import { hash, randomBytes } from 'node:crypto';

const RANDOM_BYTES = 32;
const RANDOM_CHARACTERS = 43;

/** `session`: the value of a cookie. `link`: the last part of an address that signs in once. */
const PREFIXES = { session: 'ses_', link: 'lnk_' } as const;

export type SignInTokenKind = keyof typeof PREFIXES;

export interface SignInToken {
  /** 256 random bits in base64url. Its prefix is how the log finds and masks it. */
  readonly token: string;
  /** What the database stores. */
  readonly tokenSha256: Buffer;
}

export function createSignInToken(kind: SignInTokenKind): SignInToken {
  const token = PREFIXES[kind] + randomBytes(RANDOM_BYTES).toString('base64url');
  return { token, tokenSha256: hash('sha256', token, 'buffer') };
}

/** The hash under which the token is stored; undefined if the text is no token of this kind. */
export function hashSignInToken(kind: SignInTokenKind, text: string): Buffer | undefined {
  const prefix = PREFIXES[kind];
  if (!text.startsWith(prefix) || !/^[\w-]+$/.test(text)) return undefined;
  return text.length === prefix.length + RANDOM_CHARACTERS ? hash('sha256', text, 'buffer') : undefined;
}
