import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { isLinkTitle, LINK_KINDS, MAX_LINK_TITLE_CHARACTERS } from '../../../domain/payment-link';
import type { TimeZone } from '../../../domain/sign-in';
import { startOfDay } from '../../ui/format';
import { orderField, providerField } from '../payments/creation-form';
import { amountField } from '../payments/list-filter';

const rupiahField = amountField
  .refine((rupiah) => rupiah >= 1 && rupiah <= MAX_TOTAL_RUPIAH, { error: 'amount' })
  .optional();

const LOCAL_TIME = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)(?::00)?$/;
const MINUTE_MS = 60_000;

/** A time as a browser sends it, in the zone of the merchant. */
const localTime = (zone: TimeZone) =>
  z.string().transform((text, context) => {
    const [, day = '', hours, minutes] = LOCAL_TIME.exec(text) ?? [];
    const start = z.iso.date().safeParse(day).success ? startOfDay(day, zone).getTime() : Number.NaN;
    const at = new Date(start + (Number(hours) * 60 + Number(minutes)) * MINUTE_MS);
    if (!Number.isNaN(at.getTime())) return at;
    context.addIssue('expires');
    return z.NEVER;
  });

/** The fields of a new link. The messages are codes of the texts. */
export const newLinkFields = (zone: TimeZone) =>
  z
    .object({
      title: z
        .string({ error: 'title' })
        .max(MAX_LINK_TITLE_CHARACTERS, { error: 'title' })
        .refine(isLinkTitle, { error: 'title' }),
      kind: z.enum(LINK_KINDS, { error: 'kind' }),
      amount: rupiahField,
      open: z.literal('on', { error: 'form' }).optional(),
      minimum: rupiahField,
      maximum: rupiahField,
      order: orderField,
      provider: providerField,
      expires: localTime(zone).optional(),
    })
    .refine(({ amount, open }) => amount !== undefined || open !== undefined, { error: 'amount', path: ['amount'] })
    .refine(({ amount, open }) => amount === undefined || open === undefined, {
      error: 'amount_or_open',
      path: ['amount'],
    })
    .transform(({ title, kind, amount, minimum, maximum, order, provider, expires }) => ({
      title,
      kind,
      // Beside an amount, the bounds below `More` are left over and not of this link.
      ...(amount === undefined
        ? { amountRupiah: null, minimumRupiah: minimum ?? null, maximumRupiah: maximum ?? null }
        : { amountRupiah: amount, minimumRupiah: null, maximumRupiah: null }),
      merchantReferenceId: order ?? null,
      provider,
      expiresAt: expires ?? null,
    }));
