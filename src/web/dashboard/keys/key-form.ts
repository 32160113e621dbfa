import { z } from 'zod';
import { MERCHANT_SCOPES, type MerchantScope } from '../../../domain/key-access';
import { keyName, keyNetworks, MAX_KEY_NAME_CHARACTERS } from '../../../services/merchants/keys/api-key';
import { KEY_OVERLAPS_HOURS } from '../../../services/merchants/keys/rotate-key';
import { dayOf, endOfDay, type Locale } from '../../ui/format';

const DAY_MS = 86_400_000;
const MAX_DAYS = 3_650;

/** When a new key ends: never, after days, or on a day. */
export const EXPIRIES = ['none', '30', '90', '365', 'date'] as const;

/** The scopes that are checked at first: what a shop needs to take payments. */
export const FIRST_SCOPES: readonly MerchantScope[] = ['read', 'create'];

/** The checkbox of a scope. */
export const scopeField = <Scope extends MerchantScope>(scope: Scope): `scope_${Scope}` => `scope_${scope}`;

const name = z
  .string({ error: 'name' })
  .max(MAX_KEY_NAME_CHARACTERS, { error: 'name' })
  .refine((text) => keyName.safeParse(text).success, { error: 'name' });
const networks = z
  .string()
  .default('')
  .transform((text) => text.split(/[\s,;]+/).filter(Boolean))
  .refine((list) => keyNetworks.safeParse(list).success, { error: 'networks' });

export const editKeyFields = z
  .object({ name, networks })
  .transform((fields) => ({ name: fields.name, allowedNetworks: fields.networks }));

export const rotateKeyFields = z
  .object({
    overlap: z
      .string()
      .transform(Number)
      .pipe(z.literal(KEY_OVERLAPS_HOURS, { error: 'form' })),
  })
  .transform(({ overlap }) => ({ overlapHours: overlap }));

const days = z.enum(EXPIRIES, { error: 'expiry' });

/** The fields of a new key. The checkboxes of the scopes are one field, and the day counts only if it was chosen. */
export function newKeyFields(now: Date, { zone }: Locale) {
  const lastDay = z.iso
    .date({ error: 'day' })
    .transform((day) => (day > dayOf(now, zone) ? endOfDay(day, zone) : now))
    .refine((end) => end > now && end.getTime() - now.getTime() <= MAX_DAYS * DAY_MS, { error: 'day' });
  const scopes = z.array(z.enum(MERCHANT_SCOPES)).min(1, { error: 'scopes' });
  const fields = z.object({ name, networks, scopes, expiry: days, expires_on: lastDay.optional() });
  return z.preprocess(groupFields, fields).transform((form) => ({
    name: form.name,
    scopes: form.scopes,
    allowedNetworks: form.networks,
    expiresAt: expiryOf(form, now),
  }));
}

function groupFields(sent: unknown): object {
  const fields = z.record(z.string(), z.unknown()).parse(sent);
  const scopes = MERCHANT_SCOPES.filter((scope) => fields[scopeField(scope)] !== undefined);
  const lastDay = fields.expiry === 'date' ? (fields.expires_on ?? '') : undefined;
  return { ...fields, scopes, expires_on: lastDay };
}

interface Expiry {
  readonly expiry: (typeof EXPIRIES)[number];
  readonly expires_on?: Date | undefined;
}

function expiryOf({ expiry, expires_on }: Expiry, now: Date): Date | undefined {
  if (expiry === 'none') return undefined;
  return expiry === 'date' ? expires_on : new Date(now.getTime() + Number(expiry) * DAY_MS);
}
