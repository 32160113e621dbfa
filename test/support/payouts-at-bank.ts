import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSealer } from '../../src/crypto/sealing';
import { findRecordedPayout, type RecordedPayout } from '../../src/db/payouts/find-payout';
import type { StepActor } from '../../src/domain/actor';
import type { PayoutAction } from '../../src/domain/payout-actions';
import type { PayoutRequestInput } from '../../src/domain/payout-step';
import { seedPayouts } from '../../src/services/sandbox/seed-payouts';
import { payoutWorkflowId } from '../../workflows/ids';
import { newPayoutReference } from '../sandbox/bank/bank-under-test';
import { applyTransitions } from '../services/ledger/transition-path';
import { prepareBankAccount } from './bank-accounts';
import { eventually } from './eventually';
import { newTerms } from './payments';
import { createMember, createShop } from './people';
import type { TestService } from './service';

export const ORDINARY = '1234567890';
export const [NET_RUPIAH, FEE_RUPIAH] = [252_500, 2_500];
/** What a requester has seen before the balance changed. */
export const ANOTHER_BALANCE = {
  grossRupiah: NET_RUPIAH + 1_000,
  amountRupiah: NET_RUPIAH - FEE_RUPIAH + 1_000,
} as const;
export const OPERATOR = { name: 'cli:sari', note: 'ticket 12 of the bank' } as const;
const BI_FAST = { rail: 'bi_fast', payoutPolicyId: 1 } as const;

export interface ShopPayout {
  readonly payoutId: string;
  readonly merchantId: string;
  readonly referenceId: string;
  readonly bankAccountId: string;
  /** The member who requested it. */
  readonly user: string;
}

const transfersSchema = z.object({
  transfers: z.array(
    z.object({
      partner_reference_no: z.string(),
      send_calls: z.number(),
      amount_rupiah: z.number(),
      account_number: z.string(),
      executions: z.array(z.object({ direction: z.string() })),
    }),
  ),
});

interface Accounts {
  readonly policyId: string;
  readonly acquirerAccountId: string;
  /** Our account at the sandbox's bank. */
  readonly accountId: string;
}

/** Payouts of a test service to the sandbox's bank, each of a merchant of its own. There is no cool-down. */
export async function preparePayoutsAtBank(service: TestService): Promise<PayoutsAtBank> {
  const { db, masterKey, sandboxUrl } = service;
  await seedPayouts({ db, sealer: createSealer(masterKey), sandboxUrl, apiUrl: service.apiUrl });
  await db.query(
    `insert into payout_limits (cooldown_seconds, not_found_seconds, replaces_id)
     select 0, 0, max(id) from payout_limits`,
  );
  const idOf = async (text: string): Promise<string> => (await db.query<{ id: string }>(text)).rows[0]?.id ?? '';
  return new PayoutsAtBank(service, {
    policyId: await idOf(`select id from policies where provider = 'gopay' limit 1`),
    acquirerAccountId: await idOf(`select id from provider_accounts where provider = 'gopay' limit 1`),
    accountId: await idOf(`select id from provider_accounts where purpose = 'payouts'`),
  });
}

export class PayoutsAtBank {
  constructor(
    private readonly service: TestService,
    private readonly accounts: Accounts,
  ) {}

  get accountId(): string {
    return this.accounts.accountId;
  }

  /** @param callsPerSecond the next slot is so late that a call is not made; null: no limit */
  async limitCalls(callsPerSecond: number | null): Promise<void> {
    await this.service.db.query('update provider_accounts set calls_per_second = $2 where id = $1', [
      this.accounts.accountId,
      callsPerSecond,
    ]);
    await this.service.db.query('delete from provider_call_schedules where provider_account_id = $1', [
      this.accounts.accountId,
    ]);
    if (callsPerSecond === null) return;
    await this.service.db.query(
      `insert into provider_call_schedules (provider_account_id, next_call_at)
       values ($1, clock_timestamp() + interval '2500 milliseconds')`,
      [this.accounts.accountId],
    );
  }

  /** Settles a payment of the merchant. */
  async settle(merchantId: string): Promise<void> {
    const { db, context } = this.service;
    const terms = { merchantId, policyId: this.accounts.policyId, providerAccountId: this.accounts.acquirerAccountId };
    const amounts = { amountRupiah: NET_RUPIAH, totalRupiah: NET_RUPIAH, netRupiah: NET_RUPIAH, feeRupiah: 0 };
    const ledger = {
      db,
      context,
      merchantId,
      newTerms: (changes = {}) => newTerms({ ...terms, ...changes }),
      close: () => Promise.resolve(),
    };
    await applyTransitions(ledger, ['issue', 'pay', 'settle'], amounts);
  }

  /** A merchant with a balance of one settled payment, and a bank account of this number. */
  async newShop(number: string): Promise<ShopPayout> {
    const { db } = this.service;
    const { id: merchantId } = await createShop(db);
    const bankAccountId = await prepareBankAccount(this.service, merchantId, 'active', number);
    await this.settle(merchantId);
    const user = await createMember(db, `${randomUUID()}@shop.test`, [[merchantId, 'owner']]);
    return { payoutId: randomUUID(), merchantId, bankAccountId, user, referenceId: newPayoutReference() };
  }

  /** A payout of the whole balance. */
  async request(payout: ShopPayout, changes: Partial<PayoutRequestInput> = {}) {
    const { payoutId, merchantId, referenceId, bankAccountId, user } = payout;
    const { rows } = await this.service.db.query<{ last: number }>(
      'select max(posting_id) as last from balance_transactions where merchant_id = $1',
      [merchantId],
    );
    return this.service.workflows.payouts.request({
      payoutId,
      merchantId,
      referenceId,
      bankAccountId,
      providerAccountId: this.accounts.accountId,
      grossRupiah: NET_RUPIAH,
      feeRupiah: FEE_RUPIAH,
      amountRupiah: NET_RUPIAH - FEE_RUPIAH,
      ...BI_FAST,
      afterPostingId: 0,
      upToPostingId: rows[0]?.last ?? 0,
      by: { name: `user:${user}` },
      ...changes,
    });
  }

  async requested(number: string): Promise<ShopPayout> {
    const payout = await this.newShop(number);
    const { outcome } = await this.request(payout);
    if (outcome !== 'requested') throw new Error(`The request of ${payout.referenceId} is ${outcome}`);
    return payout;
  }

  async rowOf({ payoutId }: ShopPayout) {
    const { rows } = await this.service.db.query(
      `select status, version, send_count, send_outcome, failure_kind, is_manual,
         (select array_agg(name order by version) from payout_transitions where payout_id = payouts.id) as names
       from payouts where id = $1`,
      [payoutId],
    );
    return rows[0];
  }

  async recordedOf({ payoutId }: ShopPayout): Promise<RecordedPayout> {
    const recorded = await findRecordedPayout(this.service.db, payoutId);
    if (!recorded) throw new Error('The payout has no row');
    return recorded;
  }

  /** The bank's notification leads there, or else the next status query. */
  waitFor(payout: ShopPayout, status: string) {
    return eventually(
      () => this.rowOf(payout),
      (row) => row.status === status,
    );
  }

  /** The same without a notification of the bank, and without waiting for the next query. */
  askUntil(payout: ShopPayout, status: string) {
    return eventually(
      async () => {
        const row = await this.rowOf(payout);
        if (row.status === 'submitted') await this.service.workflows.payouts.notify(payout);
        return row;
      },
      (row) => row.status === status,
    );
  }

  /** What the bank has of these payouts; undefined: nothing. */
  async listAtBank(payouts: readonly ShopPayout[]) {
    const response = await fetch(`${this.service.sandboxUrl}/simulator/transfers`);
    const { transfers } = transfersSchema.parse(await response.json());
    return payouts.map(({ referenceId }) => transfers.find((found) => found.partner_reference_no === referenceId));
  }

  async atBank(payout: ShopPayout) {
    return (await this.listAtBank([payout]))[0];
  }

  async directionsOf(payout: ShopPayout): Promise<string[]> {
    return (await this.atBank(payout))?.executions.map(({ direction }) => direction) ?? [];
  }

  async balanceOf({ merchantId }: ShopPayout): Promise<number> {
    const { rows } = await this.service.db.query<{ rupiah: number }>(
      `select sum(amount_rupiah)::bigint as rupiah from balance_transactions
       where merchant_id = $1 and payout_id is null`,
      [merchantId],
    );
    return rows[0]?.rupiah ?? 0;
  }

  async exceptionsOf({ referenceId }: ShopPayout): Promise<string[]> {
    const { rows } = await this.service.db.query<{ kind: string }>(
      'select kind from exceptions where reference_id = $1',
      [referenceId],
    );
    return rows.map(({ kind }) => kind);
  }

  statusOf({ payoutId }: ShopPayout) {
    return this.service.workflows.payouts.queryStatus(payoutId);
  }

  /** The row may have a version that its workflow does not know yet: then the request is repeated. */
  perform(payout: ShopPayout, action: PayoutAction, actor: StepActor = OPERATOR) {
    return eventually(
      async () =>
        this.service.workflows.payouts.perform(
          { ...payout, version: (await this.rowOf(payout)).version },
          action,
          actor,
        ),
      ({ outcome }) => outcome !== 'outdated',
    );
  }

  workflowOf({ payoutId }: ShopPayout) {
    return this.service.client.workflow.getHandle(payoutWorkflowId(payoutId));
  }
}
