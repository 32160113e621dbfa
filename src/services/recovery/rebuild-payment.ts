import type { Queryable } from '../../db/connection/pool';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { transitionWriters } from '../../db/transitions/payment-transitions';
import type { StepActor } from '../../domain/actor';
import type { PaymentTerms } from '../../domain/payment';
import type { RecordedCreation } from '../../temporal/creation-history';

const RECOVERY_ACTOR: StepActor = { name: 'operator', note: 'written again by a recovery' };

/**
 * Restores the row of a payment that PostgreSQL has lost, as its creation began. An operator writes no QR: the workflow
 * has the response to the creation, and a worker records it. So an idempotent replay returns the same response.
 */
export async function rebuildPayment(
  context: TransitionContext,
  { terms, createdAtMs }: Pick<RecordedCreation, 'terms' | 'createdAtMs'>,
): Promise<void> {
  await ensureMerchant(context.db, terms);
  const policyId = await findPolicyId(context.db, terms);
  await transitionWriters.create(context, { terms: { ...terms, policyId }, createdAtMs, by: RECOVERY_ACTOR });
}

/** A merchant lost with the payment is restored without name and key, and suspended: an operator decides about it. */
async function ensureMerchant(db: Queryable, { merchantId, provider }: PaymentTerms): Promise<void> {
  await db.query({
    name: 'ensure_merchant',
    text: `insert into merchants (id, name, status, providers)
      values ($1::uuid, 'Lost merchant ' || $1::uuid, 'suspended', array[$2])
      on conflict (id) do nothing`,
    values: [merchantId, provider],
  });
}

/** The captured policy; if that was lost, the provider's newest. The payment's own terms do not change. */
async function findPolicyId(db: Queryable, { policyId, provider, paymentMethod }: PaymentTerms): Promise<string> {
  const { rows } = await db.query<{ id: string }>({
    name: 'find_policy_id',
    text: `select id from policies where id = $1 or (provider = $2 and channel = $3)
      order by id = $1 desc, version desc limit 1`,
    values: [policyId, provider, paymentMethod],
  });
  return rows[0]?.id ?? policyId;
}
