import { z } from 'zod';
import { MERCHANT_SCOPES, type MerchantScope } from '../../../domain/key-access';
import { isNetwork, MAX_KEY_NAME_CHARACTERS } from '../../../services/merchants/keys';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { dayOf, endOfDay, type Locale } from '../../ui/format';
import { EXPIRIES, OVERLAPS, scopeField } from './key-fields';
import { KEY_TEXTS } from './key-texts';

const MAX_NETWORKS = 50;
const DAY_MS = 86_400_000;
const MAX_DAYS = 3_650;

const formId = z.uuid({ error: 'form' });

const changes = {
  name: z
    .string({ error: 'name' })
    .max(MAX_KEY_NAME_CHARACTERS, { error: 'name' })
    .refine((text) => !text.includes('\0'), { error: 'name' }),
  networks: z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,;]+/).filter(Boolean))
    .refine((networks) => networks.length <= MAX_NETWORKS && networks.every(isNetwork), { error: 'networks' }),
};

export const editKeySchema = z.object(changes);

export const newKeySchema = z.object({
  form_id: formId,
  ...changes,
  expiry: z.enum(EXPIRIES, { error: 'expiry' }),
  expires_on: z.iso.date({ error: 'day' }).optional(),
});

export const rotateKeySchema = z.object({
  form_id: formId,
  overlap: z.enum(OVERLAPS, { error: 'form' }).transform(Number),
});

/** The scopes that are checked in a form that was sent. */
export function scopesOf(sent: SentFields): MerchantScope[] {
  return MERCHANT_SCOPES.filter((scope) => sent[scopeField(scope)] !== undefined);
}

/** When the new key ends: null for never; undefined for a day that is not possible. */
export function expiryOf(
  { expiry, expires_on }: Pick<z.output<typeof newKeySchema>, 'expiry' | 'expires_on'>,
  now: Date,
  { zone }: Locale,
): Date | null | undefined {
  if (expiry === 'none') return null;
  if (expiry !== 'date') return new Date(now.getTime() + Number(expiry) * DAY_MS);
  if (expires_on === undefined || expires_on <= dayOf(now, zone)) return undefined;
  const end = endOfDay(expires_on, zone);
  return end.getTime() - now.getTime() > MAX_DAYS * DAY_MS ? undefined : end;
}

/** The texts of the errors of a form. */
export function errorTexts({ language }: Locale, codes: FieldErrors): FieldErrors {
  const { errors } = KEY_TEXTS[language].form;
  const known: Readonly<Partial<Record<string, string>>> = errors;
  const texts = Object.entries(codes).map(([name, code]) => {
    const field = name === 'form_id' ? 'name' : name.startsWith('scope_') ? 'scopes' : name;
    return [field, known[code] ?? errors.form] as const;
  });
  return Object.fromEntries(texts);
}
