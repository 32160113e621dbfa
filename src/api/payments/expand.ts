import type { Request } from 'express';
import { z } from 'zod';
import { findPaymentsWithParts, type PaymentPart } from '../../db/payments/payment-parts';
import { EXPANSIONS, scopesOfExpansions, type Expansion } from '../../domain/expansions';
import { FEE_CLASSES } from '../../domain/fee-classes';
import { FEE_SOURCES } from '../../domain/fees';
import { LATE_PAYMENT_STATUSES } from '../../domain/late-payment';
import { REFUND_STATUSES } from '../../domain/refund';
import { assertScope, type AuthenticatedMerchant } from '../../http/auth/authenticate';
import { expand, type ExpandedPayment, type RenderDependencies } from '../../services/payments/expand';
import type { ApiDependencies } from '../dependencies';
import { readQuery } from '../read-query';
import { qrisSchema } from './get-qris';
import { PAYMENT_FIELDS, rupiahField, timestampField } from './payment-fields';

const recordSchema = z.record(z.string(), z.unknown()).nullable();

const detailsField = (description: string) =>
  recordSchema.meta({ description: `${description}; null if the request had none, or if it was erased.` });

const EXPANDED_FIELDS = {
  metadata: detailsField('Your own data'),
  customer: detailsField('What you sent about the customer'),
  description: z
    .string()
    .nullable()
    .meta({ description: 'What the customer pays for; null without it, or if it was erased.' }),
  return_url: z
    .string()
    .nullable()
    .meta({ description: 'As the request had it; null without it, or if it was erased.' }),
  checkout_url: z.url().nullable().meta({ description: 'The page where the customer pays; null without a QR.' }),
  qris: qrisSchema.nullable().meta({ description: 'As `GET /payments/:id/qris`; null without a QR.' }),
  expires_at: PAYMENT_FIELDS.expires_at,
  refund: z
    .object({
      number: z.int(),
      status: z.enum(REFUND_STATUSES),
      cancellable_until: timestampField('Until then a refund that is `held` can be cancelled.'),
      submitted_at: timestampField('When it was sent to the provider.').nullable(),
      finished_at: timestampField('When it was confirmed, rejected or cancelled.').nullable(),
      failure_reason: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'The newest refund; null if there was none.' }),
  late_payment: z
    .object({
      status: z.enum(LATE_PAYMENT_STATUSES),
      amount: rupiahField('What the customer paid after the end', 1),
      received_at: timestampField('When Lunas learned of it.'),
      finished_at: timestampField('When it was refunded, or given to an operator.').nullable(),
    })
    .nullable()
    .meta({ description: 'Money that arrived after the transaction had ended; null if there was none.' }),
  failure_reason: z.string().nullable().meta({ description: 'Why a `failed` transaction failed.' }),
  settlement: z
    .object({
      kind: z.enum(['automatic', 'manual']),
      due_at: timestampField('When it can be settled at the earliest; null before it is paid.').nullable(),
      settled_at: timestampField('When it was settled.').nullable(),
    })
    .meta({ description: 'When the money reaches your balance.' }),
  fee: z
    .object({
      amount: rupiahField('As `fee_amount`', 0),
      vat_amount: rupiahField('The VAT that it includes', 0),
      source: z.enum(FEE_SOURCES),
      class: z.enum(FEE_CLASSES).nullable(),
      basis_points: z.int(),
      flat_amount: rupiahField('Added to the basis points', 0),
    })
    .nullable()
    .meta({ description: 'The rate that decided the fee; null if it was not captured.' }),
  payment_link: z
    .object({ id: z.uuid(), reference_id: z.string(), url: z.url() })
    .nullable()
    .meta({ description: 'The payment link by which it was made; null: by none.' }),
} as const satisfies { readonly [Name in Expansion]: z.ZodType<ExpandedPayment[Name]> };

/** For the schema of a response: each member is there if it is requested. */
export const expandedFields = z.object(EXPANDED_FIELDS).partial().shape;

/** The members of the bodies of webhooks, each if the endpoint adds it. */
export const webhookFields = z.object(EXPANDED_FIELDS).omit({ payment_link: true }).partial().shape;

/** Any text may be given. */
const MAX_SHOWN_NAME = 40;

const RULE = `takes one or more of ${EXPANSIONS.join(', ')}, separated by commas`;

const isExpansion = (name: string): name is Expansion => EXPANSIONS.some((expansion) => expansion === name);

/** The parameter `expand`. */
export const expandSchema = z
  .string()
  .transform((text, context): Expansion[] => {
    const names = [...new Set(text.split(',').map((name) => name.trim()))];
    const other = names.find((name) => !isExpansion(name));
    if (other !== undefined) context.addIssue(`${RULE}, not "${other.slice(0, MAX_SHOWN_NAME)}"`);
    return names.filter(isExpansion);
  })
  .optional()
  .meta({
    description: `Members that are added to each transaction, separated by commas: ${EXPANSIONS.map(
      (name) => `\`${name}\``,
    ).join(', ')}. They are the current ones, also in an idempotent replay.`,
  });

/** The query of an endpoint whose only parameter it is. */
export const expandQuerySchema = z.object({ expand: expandSchema });

export type ExpandDependencies = RenderDependencies & Pick<ApiDependencies, 'db'>;

/** What the members need of other tables. */
const PARTS: Readonly<Partial<Record<Expansion, PaymentPart>>> = {
  metadata: 'sealedDetails',
  customer: 'sealedDetails',
  description: 'sealedDetails',
  return_url: 'sealedDetails',
  refund: 'refund',
  late_payment: 'latePayment',
  settlement: 'settledAt',
  payment_link: 'link',
};

export function partsOf(wanted: readonly Expansion[]): PaymentPart[] {
  return [...new Set(wanted.flatMap((name) => PARTS[name] ?? []))];
}

/**
 * What the request wants. A key that may only create reads no metadata by a repeat of a creation.
 * @throws ApiError `invalid_parameter`, `scope_not_allowed`
 */
export function readExpand(request: Request, merchant: AuthenticatedMerchant): readonly Expansion[] {
  const { expand: wanted = [] } = readQuery(request, expandQuerySchema);
  for (const scope of scopesOfExpansions(wanted)) assertScope(merchant, scope);
  return wanted;
}

/** A payment with the wanted members. A member that the response has anyway keeps its position and its value. */
export function withMembers<Payment extends object>(payment: Payment, members: Partial<ExpandedPayment> = {}) {
  return { ...payment, ...members, ...payment };
}

/** The wanted members of some payments of a merchant, by id. Without a wish it reads nothing. */
export async function expandAll(
  dependencies: ExpandDependencies,
  merchantId: string,
  paymentIds: readonly string[],
  wanted: readonly Expansion[],
): Promise<ReadonlyMap<string, Partial<ExpandedPayment>>> {
  if (wanted.length === 0) return new Map();
  const payments = await findPaymentsWithParts(dependencies.db, merchantId, { paymentIds, parts: partsOf(wanted) });
  const expanded = payments.map(async (payment) => [payment.id, await expand(dependencies, payment, wanted)] as const);
  return new Map(await Promise.all(expanded));
}
