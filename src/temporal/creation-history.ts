import type { WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter, Payload, SerializationContext } from '@temporalio/common';
import { z } from 'zod';
import { FEE_CLASSES } from '../domain/fee-classes';
import { FEE_PAYERS, FEE_SOURCES, type FeeTerms } from '../domain/fees';
import { SETTLEMENT_KINDS, type PaymentTerms } from '../domain/payment';
import { PAYMENT_METHODS, PROVIDERS } from '../domain/provider-capabilities';
import type { CreationResult } from '../domain/workflow-step';

/** The creation of a payment as its workflow recorded it: enough to restore the payment's row. */
export interface RecordedCreation {
  readonly terms: PaymentTerms;
  readonly createdAtMs: number;
  /** Undefined while the provider has neither issued the QR nor rejected the order. */
  readonly creation: CreationResult | undefined;
}

const rupiah = z.int().nonnegative();

const feeTermsSchema = z.object({
  source: z.enum(FEE_SOURCES),
  class: z.enum(FEE_CLASSES).nullable(),
  basisPoints: z.int(),
  flatRupiah: rupiah,
  validFrom: z.iso.date().nullable(),
  vatBasisPoints: z.int().nonnegative().optional(),
}) satisfies z.ZodType<FeeTerms>;

const termsSchema = z.object({
  paymentId: z.uuid(),
  referenceId: z.string(),
  merchantId: z.uuid(),
  merchantReferenceId: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  fingerprint: z.string(),
  paymentMethod: z.enum(PAYMENT_METHODS),
  provider: z.enum(PROVIDERS),
  providerAccountId: z.uuid(),
  amountRupiah: rupiah,
  feeRupiah: rupiah,
  totalRupiah: rupiah,
  netRupiah: rupiah,
  feePayer: z.enum(FEE_PAYERS),
  feeTerms: feeTermsSchema.nullish(),
  vatRupiah: rupiah.optional(),
  policyId: z.uuid(),
  settlementKind: z.enum(SETTLEMENT_KINDS),
  settlementDelaySeconds: z.int(),
  expiresInSeconds: z.int(),
}) satisfies z.ZodType<PaymentTerms>;

const creationResultSchema = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('issued'),
    atMs: z.int(),
    providerTransactionId: z.string(),
    qrisPayload: z.string(),
  }),
  z.object({ outcome: z.literal('rejected'), atMs: z.int(), reason: z.string() }),
]) satisfies z.ZodType<CreationResult>;

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** The input of a run that resumes a payment. */
const resumeStateSchema = z.object({ createdAtMs: z.int(), creation: creationResultSchema.optional() });
const createdSchema = z.object({ creation: creationResultSchema });

/**
 * Reads the creation from the history of a run: the input of the workflow, and the result of `openPayment`.
 * @param context of the workflow: the payloads of another one are not authentic
 * @throws Error if this is not the history of a payment
 */
export async function creationIn(
  { events }: History,
  converter: LoadedDataConverter,
  context: SerializationContext,
): Promise<RecordedCreation> {
  const decode = (payloads: readonly Payload[] | null | undefined) => decodeAll(converter, payloads ?? [], context);
  const [first, ...later] = events ?? [];
  const [input, resumeInput] = await decode(first?.workflowExecutionStartedEventAttributes?.input?.payloads);
  const resumeState = resumeInput === undefined ? undefined : resumeStateSchema.parse(resumeInput);
  let creation = resumeState?.creation;
  for (const event of later) {
    if (creation) break;
    const result =
      event.markerRecordedEventAttributes?.details?.['result'] ?? event.activityTaskCompletedEventAttributes?.result;
    const [value] = await decode(result?.payloads);
    creation = createdSchema.safeParse(value).data?.creation;
  }
  return {
    terms: termsSchema.parse(input),
    createdAtMs: resumeState?.createdAtMs ?? millisecondsOf(first?.eventTime),
    creation,
  };
}

/** The values of payloads of one workflow. */
export async function decodeAll(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  payloads: readonly Payload[],
  context: SerializationContext,
): Promise<unknown[]> {
  let decoded = [...payloads];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded, context);
  return decoded.map((payload) => payloadConverter.fromPayload(payload));
}

/** A timestamp of a history, Unix time. */
export function millisecondsOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds) * 1_000 + Math.floor((time?.nanos ?? 0) / 1_000_000);
}
