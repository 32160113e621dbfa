import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../../domain/money';
import { isLinkTitle, LINK_KINDS, MAX_LINK_TITLE_CHARACTERS, OPEN_AMOUNT_RUPIAH } from '../../../domain/payment-link';
import { PROVIDERS } from '../../../domain/provider-capabilities';
import type { TimeZone } from '../../../domain/sign-in';
import { startOfDay } from '../../ui/format';
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
      order: z
        .string()
        .max(64, { error: 'order' })
        .refine((text) => !text.includes('\0'), { error: 'order' })
        .optional(),
      provider: z.enum(PROVIDERS, { error: 'provider' }).default('gopay'),
      expires: localTime(zone).optional(),
    })
    .refine(({ amount, open }) => amount !== undefined || open !== undefined, { error: 'amount', path: ['amount'] })
    .refine(({ amount, open }) => amount === undefined || open === undefined, {
      error: 'amount_or_open',
      path: ['amount'],
    })
    .refine(({ minimum, maximum }) => boundsOf(minimum, maximum).isOrdered, { error: 'bounds', path: ['maximum'] })
    .transform(({ title, kind, amount, minimum, maximum, order, provider, expires }) => ({
      title,
      kind,
      amount:
        amount === undefined
          ? { amountRupiah: null, ...boundsOf(minimum, maximum).bounds }
          : { amountRupiah: amount, minimumRupiah: null, maximumRupiah: null },
      merchantReferenceId: order ?? null,
      provider,
      expiresAt: expires ?? null,
    }));

function boundsOf(
  minimumRupiah: number = OPEN_AMOUNT_RUPIAH.minimum,
  maximumRupiah: number = OPEN_AMOUNT_RUPIAH.maximum,
) {
  return { bounds: { minimumRupiah, maximumRupiah }, isOrdered: minimumRupiah <= maximumRupiah };
}
