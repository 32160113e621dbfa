import { bulkRequestSchema, itemRequestSchema, MAX_ITEMS, paymentRequestSchema } from './payment-request';

const SINGLE_FIELDS = fieldsOf(paymentRequestSchema);
const BULK_FIELDS = fieldsOf(bulkRequestSchema);
const ITEM_FIELDS = fieldsOf(itemRequestSchema);

function fieldsOf({ shape }: { readonly shape: object }): ReadonlySet<string> {
  return new Set(Object.keys(shape));
}

/**
 * The fields that no rule reads. Those of items begin with `payments[].`, whatever the item. In a bulk these are also
 * the fields of a single payment beside `payments`, and the provider of an item.
 */
export function ignoredFieldsOf(body: Readonly<Record<string, unknown>>): string[] {
  if (body.payments === undefined) return unknownIn(body, SINGLE_FIELDS);
  const items: readonly unknown[] = Array.isArray(body.payments) ? body.payments.slice(0, MAX_ITEMS) : [];
  const ofItems = items.flatMap((item) => unknownIn(item, ITEM_FIELDS)).map((name) => `payments[].${name}`);
  return [...unknownIn(body, BULK_FIELDS), ...ofItems];
}

function unknownIn(value: unknown, known: ReadonlySet<string>): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.keys(value).filter((name) => !known.has(name));
}
