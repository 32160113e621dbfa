import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../errors';
import { digits } from '../../lib/fields';
import { parseJson } from '../../lib/parse-json';
import { snapCredentialsSchema } from '../../snap/credentials';

const MAX_ACQUIRER_KEYS = 2;

/** PEM, or the base64 of a SubjectPublicKeyInfo. */
function readPublicKey(text: string): KeyObject | undefined {
  try {
    const isPem = text.includes('-----BEGIN');
    return isPem
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

const rsaPublicKey = z.string().transform((text, context) => {
  const key = readPublicKey(text);
  if (key?.asymmetricKeyType === 'rsa') return key;
  context.addIssue({ code: 'custom', message: 'must be a public RSA key (PEM, or base64 of its SPKI)' });
  return z.NEVER;
});

/** What calls to the bank are signed with. They can move money. */
const payoutCredentialsSchema = snapCredentialsSchema.extend({
  /** The account that pays. */
  sourceAccountNo: digits(5, 20),
});

/** What the notifications of the bank are verified with. */
const notificationKeysSchema = z.strictObject({
  /** Only of a bank with notifications of Iris. */
  merchantKey: z.string().min(1).optional(),
  /** Only of a bank with notifications of SNAP. Two during a rotation. */
  acquirerPublicKeys: z.array(rsaPublicKey).min(1).max(MAX_ACQUIRER_KEYS).optional(),
});

export type NotificationKeys = z.infer<typeof notificationKeysSchema>;

/**
 * What a bank issues with a payouts account: one document. The process that calls the bank reads it as it was issued,
 * so that it has the fingerprint that operators compare.
 */
const issuedSchema = payoutCredentialsSchema.extend(notificationKeysSchema.shape);
const NOTIFICATION_FIELDS: ReadonlySet<string> = new Set(Object.keys(notificationKeysSchema.shape));

export type PayoutCredentials = z.infer<typeof payoutCredentialsSchema>;

/** The part that the API reads, as JSON. @throws UserError that names each wrong field, never a value */
export function extractNotificationKeys(json: string): string {
  parseAs(issuedSchema, json);
  const fields = Object.entries(z.record(z.string(), z.unknown()).parse(parseJson(json)));
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => NOTIFICATION_FIELDS.has(name))));
}

/** @throws UserError that names each wrong field, never a value */
export function parsePayoutCredentials(json: string): PayoutCredentials {
  return parseAs(issuedSchema, json);
}

/** @throws UserError that names each wrong field, never a value */
export function parseNotificationKeys(json: string): NotificationKeys {
  return parseAs(notificationKeysSchema, json);
}

function parseAs<Schema extends z.ZodType>(schema: Schema, json: string): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(json));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`);
  throw new UserError(`The credentials are not valid: ${problems.join('; ')}.`);
}
