import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { digits } from '../lib/fields';

const NO_RSA_KEY = 'must be a private RSA key (PEM, PKCS #8)';

function readPrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

const rsaPrivateKey = z.string().transform((pem, context) => {
  const key = readPrivateKey(pem);
  if (key?.asymmetricKeyType === 'rsa') return key;
  context.addIssue({ code: 'custom', message: NO_RSA_KEY });
  return z.NEVER;
});

/** What an acquirer issues with an account, and our private key. A message about it names fields, never values. */
export const snapCredentialsSchema = z.strictObject({
  /** `X-CLIENT-KEY`. */
  clientId: z.string().min(1),
  /** Only for calls that are signed with it. */
  clientSecret: z.string().min(1).optional(),
  partnerId: z.string().min(1),
  channelId: digits(5),
  privateKey: rsaPrivateKey,
});

export type SnapCredentials = z.infer<typeof snapCredentialsSchema>;
