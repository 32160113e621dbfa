import { randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { createPool } from '../../src/db/connection/pool';
import { onlyRow } from '../../src/db/connection/require-row';
import { findRecordedPayout } from '../../src/db/payouts/find-payout';
import {
  payoutWriters,
  readPayoutState,
  type NewPayout,
  type PayoutTransitionDetails,
  type PayoutTransitionResult,
} from '../../src/db/transitions/payout-transitions';
import type { StepActor } from '../../src/domain/actor';
import type { PayoutAction } from '../../src/domain/payout-actions';
import { PAYOUT_TRANSITIONS, type PayoutStatus, type PayoutTransitionName } from '../../src/domain/payout-transitions';
import { codeOf, messageOf } from '../../src/errors';
import type { PayoutWorkflows } from '../../src/services/payouts/payouts';
import { applyTransitions } from '../services/ledger/transition-path';
import { prepareBankAccount } from './bank-accounts';
import type { TestDatabase } from './database';
import { createTestLedger, newTerms, type TestLedger } from './payments';
import { newMasterKey, type TestService } from './service';

/** A merchant with a bank account in use, our account that pays, and no cool-down. The worker writes payouts. */
interface MerchantPayouts extends TestLedger {
  readonly masterKey: string;
  readonly bankAccountId: string;
  readonly providerAccountId: string;
  /** For the transitions of payments. In a new database `context` has the rights of payouts only. */
  readonly paymentContext: TestLedger['context'];
}

/** The same in a new database. */
export interface TestPayouts extends MerchantPayouts {
  readonly database: TestDatabase;
}

export const FEE_RUPIAH = 2_500;
/** Long after the settlements, and after the bank account became usable. */
export const requestTime = () => new Date(Date.now() + 60_000);

export async function createTestPayouts(create?: Parameters<typeof createTestLedger>[0]): Promise<TestPayouts> {
  const ledger = await createTestLedger(create);
  const [masterKey, providerAccountId] = [newMasterKey(), randomUUID()];
  await ledger.db.query(
    `insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key, sealed_credentials)
     values ($1, 'payouts', 'snap-midtrans', 'http://127.0.0.1:9', 'none', 'none')`,
    [providerAccountId],
  );
  await ledger.db.query('insert into payout_limits (cooldown_seconds) values (0)');
  const bankAccountId = await prepareBankAccount({ db: ledger.db, masterKey }, ledger.merchantId, 'active');
  const payoutsDb = createPool(ledger.database.urlOf('lunas_local_payouts'), { max: 20 });
  return {
    ...ledger,
    masterKey,
    bankAccountId,
    providerAccountId,
    context: { ...ledger.context, db: payoutsDb },
    paymentContext: ledger.context,
    async close() {
      await payoutsDb.end();
      await ledger.close();
    },
  };
}

/**
 * The same for a merchant of a service. Without an account that pays there is a new one, which is at no bank: only the
 * writers change payouts then.
 */
export async function preparePayouts(
  { db, masterKey }: Pick<TestService, 'db' | 'masterKey'>,
  merchantId: string,
  /** The bank account's. */
  number?: string,
): Promise<MerchantPayouts> {
  const { rows } = await db.query<{ policyId: string; paymentsAccountId: string; providerAccountId: string }>(
    `with policy as (select id from policies where provider = 'gopay' limit 1),
       payments as (select id from provider_accounts where provider = 'gopay' limit 1),
       known as (select id from provider_accounts where purpose = 'payouts' and status = 'enabled'),
       added as (
         insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key, sealed_credentials)
         select gen_random_uuid(), 'payouts', 'snap-midtrans', 'http://127.0.0.1:9', 'none', 'none'
         where not exists (select from known) returning id
       ),
       payouts as (select id from known union all select id from added),
       limits as (insert into payout_limits (cooldown_seconds) values (0))
     select policy.id as "policyId", payments.id as "paymentsAccountId", payouts.id as "providerAccountId"
     from policy, payments, payouts`,
  );
  const { policyId, paymentsAccountId, providerAccountId } = onlyRow(rows);
  const context = { db, environment: 'sandbox', onDeliveries: () => undefined } as const;
  return {
    db,
    masterKey,
    merchantId,
    bankAccountId: await prepareBankAccount({ db, masterKey }, merchantId, 'active', number),
    providerAccountId,
    context,
    paymentContext: context,
    newTerms: (changes = {}) => newTerms({ merchantId, policyId, providerAccountId: paymentsAccountId, ...changes }),
    close: () => Promise.resolve(),
  };
}

/** The same with another merchant, who has a bank account too. */
export async function withNewMerchant(payouts: TestPayouts): Promise<TestPayouts> {
  const merchantId = randomUUID();
  await payouts.db.query("insert into merchants (id, name, status) values ($1, 'Toko', 'approved')", [merchantId]);
  const bankAccountId = await prepareBankAccount(payouts, merchantId, 'active');
  return { ...payouts, merchantId, bankAccountId };
}

/** For transitions of payments. */
export function ofPayments<Payouts extends MerchantPayouts>(payouts: Payouts): Payouts {
  return { ...payouts, context: payouts.paymentContext };
}

/** Settles payments of these net amounts: one line of the balance each. */
export async function addLines(payouts: MerchantPayouts, amounts: readonly number[]): Promise<void> {
  const { merchantId } = payouts;
  for (const netRupiah of amounts) {
    const terms = { merchantId, netRupiah, feeRupiah: 0, totalRupiah: netRupiah, amountRupiah: netRupiah };
    await applyTransitions(ofPayments(payouts), ['issue', 'pay', 'settle'], terms);
  }
}

/** A request of all unclaimed lines, as a preview shows them. */
export async function newPayout(
  { db, merchantId, masterKey, bankAccountId, providerAccountId }: MerchantPayouts,
  changes: Partial<NewPayout> = {},
): Promise<NewPayout> {
  const { rows } = await db.query<{ gross: number; last: number }>(
    `select coalesce(sum(amount_rupiah), 0)::bigint as gross, coalesce(max(posting_id), 0) as last
     from balance_transactions where merchant_id = $1 and payout_id is null`,
    [merchantId],
  );
  const { gross: grossRupiah, last: upToPostingId } = rows[0] ?? { gross: 0, last: 0 };
  const payoutId = randomUUID();
  return {
    payoutId,
    referenceId: `LP${payoutId.replaceAll('-', '').slice(0, 16).toUpperCase()}`,
    merchantId,
    bankAccountId,
    providerAccountId,
    grossRupiah,
    feeRupiah: FEE_RUPIAH,
    amountRupiah: grossRupiah - FEE_RUPIAH,
    rail: 'bi_fast',
    payoutPolicyId: 1,
    afterPostingId: 0,
    upToPostingId,
    sealedTerms: createSealer(masterKey).seal('{}', ['payout-terms', payoutId]),
    at: requestTime(),
    by: { name: `user:${randomUUID()}` },
    ...changes,
  };
}

/** The inputs of all transitions; each takes those that its statement has. */
const DETAILS = {
  bankReference: 'BANK-1',
  failureKind: 'other',
  reason: '4031602 Exceeds Limit',
  makesCall: true,
} as const satisfies PayoutTransitionDetails;

type StepName = Exclude<PayoutTransitionName, 'request'>;

/** One transition of a payout, by the workflow unless only an operator may. */
export function applyPayoutTransition(
  { context }: TestLedger,
  name: StepName,
  { payoutId, version, by }: { readonly payoutId: string; readonly version: number; readonly by?: StepActor },
): Promise<PayoutTransitionResult> {
  const permitted: readonly string[] = PAYOUT_TRANSITIONS[name].by;
  const actor = by ?? { name: permitted.includes('workflow') ? 'workflow' : 'cli:test' };
  return payoutWriters[name](context, { ...DETAILS, payoutId, version, at: requestTime(), by: actor });
}

/** Requests all unclaimed lines, and applies these transitions. */
export async function applyPayout(
  payouts: MerchantPayouts,
  names: readonly StepName[],
  changes: Partial<NewPayout> = {},
): Promise<NewPayout> {
  const payout = await newPayout(payouts, changes);
  const requested = await payoutWriters.request(payouts.context, payout);
  if (requested?.outcome !== 'applied') throw new Error(`The request is ${requested?.outcome ?? 'rejected'}`);
  for (const [index, name] of names.entries()) {
    const step = { payoutId: payout.payoutId, version: index + 1 };
    const { outcome, state } = await applyPayoutTransition(payouts, name, step);
    if (outcome !== 'applied') throw new Error(`${name} is ${outcome}: ${JSON.stringify(state)}`);
  }
  return payout;
}

/** The transition of an action, by the status that it leaves. */
function transitionOf(action: PayoutAction, status: PayoutStatus): StepName {
  switch (action) {
    case 'approve':
    case 'resend':
      return action;
    case 'cancel':
      return status === 'requested' ? 'cancel_request' : 'cancel';
    case 'resolveAsCompleted':
      return status === 'failed' ? 'resolve_failed_as_completed' : 'resolve_as_completed';
    case 'resolveAsFailed':
      return 'resolve_as_failed';
    case 'resolveAsReturned':
      return 'resolve_as_returned';
  }
}

/** The writers of the workflow, without its waits. */
export function writersAsWorkflows(payouts: TestPayouts): PayoutWorkflows {
  return {
    async request(request) {
      const sealedTerms = createSealer(payouts.masterKey).seal('{}', ['payout-terms', request.payoutId]);
      const written = await payoutWriters.request(payouts.context, { ...request, sealedTerms, at: new Date() });
      const recorded = written && (await findRecordedPayout(payouts.db, request.payoutId));
      return recorded
        ? { outcome: 'requested', terms: recorded.terms, state: recorded.state }
        : { outcome: 'rejected' };
    },
    findRequest: () => Promise.resolve('decided'),
    async perform({ payoutId, version }, action, by) {
      const before = await readPayoutState(payouts.db, payoutId);
      if (before.version !== version) return { outcome: 'outdated' };
      try {
        const step = { payoutId, version, by };
        const { outcome, state } = await applyPayoutTransition(payouts, transitionOf(action, before.status), step);
        return outcome === 'superseded' ? { outcome: 'outdated' } : { outcome: 'done', state };
      } catch (error) {
        // The SQLSTATE of a trigger that permits the step only to other people.
        if (codeOf(error) !== 'LN001') throw error;
        return { outcome: 'rejected', reason: messageOf(error) };
      }
    },
  };
}
