import { expiryOf } from '../../domain/payment';
import type { StepInput } from '../../domain/workflow-step';
import { executeTransition, type TransitionContext, type TransitionResult } from './apply-transition';
import { readState } from './payment-state';
import { transitionStatement } from './transition-sql';

const STATEMENT = transitionStatement(
  'create',
  `
  insert into payments (id, reference_id, merchant_id, merchant_reference_id, idempotency_key, fingerprint,
    payment_method, provider, provider_account_id, amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer,
    policy_id, settlement_kind, settlement_delay_seconds, sealed_details, expires_at, created_at, updated_at,
    status, version)
  values ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $23,
    'created', 1)
  on conflict (id) do nothing
  returning *`,
);

/** Writes the payment as `created`, before the provider is told of it. A repeat answers where the payment stands. */
export async function acceptPayment(
  context: TransitionContext,
  { terms, createdAtMs, by }: Pick<StepInput, 'terms' | 'createdAtMs' | 'by'>,
): Promise<TransitionResult> {
  const values = [
    terms.paymentId,
    terms.referenceId,
    terms.merchantId,
    terms.merchantReferenceId,
    terms.idempotencyKey,
    terms.fingerprint,
    terms.paymentMethod,
    terms.provider,
    terms.providerAccountId,
    terms.amountRupiah,
    terms.feeRupiah,
    terms.totalRupiah,
    terms.netRupiah,
    terms.feePayer,
    terms.policyId,
    terms.settlementKind,
    terms.settlementDelaySeconds,
    terms.sealedDetails,
    new Date(expiryOf(createdAtMs, terms)),
    new Date(createdAtMs),
  ];
  const state = await executeTransition(context, STATEMENT, values, by);
  return state
    ? { outcome: 'applied', state }
    : { outcome: 'repeated', state: await readState(context.db, terms.paymentId) };
}
