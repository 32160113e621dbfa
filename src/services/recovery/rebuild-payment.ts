import type { Queryable } from '../../db/connection/pool';
import type { TransitionContext } from '../../db/transitions/apply-transition';
import { transitionWriters } from '../../db/transitions/payment-transitions';
import type { StepActor } from '../../domain/actor';
import type { PaymentTerms } from '../../domain/payment';
import type { RecordedCreation } from '../../temporal/creation-history';

const RECOVERY_ACTOR: StepActor = { name: 'operator', note: 'written again by a recovery' };

/**
 * Restores the row of a payment that PostgreSQL has lost, up to the response of its creation: an idempotent replay
 * returns the same response. The payment's workflow queries the provider for everything later.
 */
export async function rebuildPayment(
  context: TransitionContext,
  { terms, createdAtMs, creation }: RecordedCreation,
): Promise<void> {
  await ensureMerchant(context.db, terms);
  const policyId = await findPolicyId(context.db, terms);
  const { state } = await transitionWriters.create(context, {
    terms: { ...terms, policyId },
    createdAtMs,
    by: RECOVERY_ACTOR,
  });
  if (!creation) return;
  const step = { paymentId: terms.paymentId, version: state.version, at: new Date(creation.atMs), by: RECOVERY_ACTOR };
  if (creation.outcome === 'issued') await transitionWriters.issue(context, { ...step, ...creation });
  else await transitionWriters.fail_creation(context, { ...step, reason: creation.reason });
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
