import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DerivedKeys } from '../src/crypto/derived-keys';
import { createSealer } from '../src/crypto/sealing';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { createKeyedMutex } from '../src/lib/keyed-mutex';
import { previewPayout } from '../src/services/payouts/payouts';
import { seedPayouts } from '../src/services/sandbox/seed-payouts';
import { connectClient, temporalTarget } from '../src/temporal/connection';
import { payloadKeys } from '../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../src/temporal/payment-workflow-client';
import { prepareBankAccount } from '../test/support/bank-accounts';
import { creation, newTerms } from '../test/support/payments';
import { approveByMember, requestByMember } from '../test/support/payout-acts';
import { createMember, createShop } from '../test/support/people';
import type { BenchmarkHarness } from './harness';
import { times } from './load-generator';

const MERCHANTS = 8;
/** More than the fee, and so little that no payout needs an operator. */
const NET_RUPIAH = 60_000;
const POLL_MS = 100;

/** A merchant with two members: the second one approves what the first one requests. */
interface Payee {
  readonly merchantId: string;
  readonly requester: string;
  readonly approver: string;
}

/** Payouts of some merchants to the sandbox's bank. */
export class BenchmarkPayouts {
  readonly #mutex = createKeyedMutex();
  readonly #waiting = new Map<string, () => void>();
  #nextPayee = 0;
  #isPolling = false;

  private constructor(
    private readonly harness: BenchmarkHarness,
    private readonly client: PaymentWorkflowClient,
    private readonly catalog: { readonly policyId: string; readonly providerAccountId: string },
    private readonly payees: readonly Payee[],
  ) {}

  /** Opens our account at the sandbox's bank, without a cool-down, and one bank account for each merchant. */
  static async prepare(harness: BenchmarkHarness): Promise<BenchmarkPayouts> {
    const { db, stack, masterKey, config } = harness;
    const sealer = createSealer(masterKey);
    await seedPayouts({ db, sealer, sandboxUrl: stack.sandboxUrl, apiUrl: stack.apiUrl });
    await db.query('insert into payout_limits (cooldown_seconds, replaces_id) select 0, max(id) from payout_limits');
    const target = temporalTarget(config, stack.temporalAddress);
    const client = new PaymentWorkflowClient(connectClient(target, payloadKeys(new DerivedKeys(db, sealer))));
    const payees: Payee[] = [];
    await times(MERCHANTS, 1, async () => void payees.push(await createPayee(harness)));
    const { policyId, accountId: providerAccountId } = await harness.readCatalog();
    return new BenchmarkPayouts(harness, client, { policyId, providerAccountId }, payees);
  }

  /** A payment is settled, its balance requested and approved, and the bank reports that it has paid. */
  async payOut(): Promise<void> {
    const payee = this.payees[this.#nextPayee++ % this.payees.length];
    if (!payee) throw new Error('There is no merchant');
    const { merchantId, requester, approver } = payee;
    const payout = await this.#mutex.runExclusive(merchantId, () => this.#request(merchantId, requester));
    if (payout.approvalKind !== 'second_user') throw new Error(`The approval of the payout is ${payout.approvalKind}`);
    const completed = new Promise<void>((resolve) => this.#waiting.set(payout.id, resolve));
    void this.#poll();
    const seen = { payout: payout.id, version: payout.version };
    await approveByMember(this.#needs, { userId: approver, merchantId }, seen);
    await completed;
  }

  get #needs() {
    return { db: this.harness.db, workflows: this.client };
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Payouts of one merchant claim the same balance: one after another. */
  async #request(merchantId: string, userId: string) {
    const { db } = this.harness;
    await this.#settle(merchantId);
    const preview = await previewPayout(db, merchantId, new Date());
    if (preview.outcome === 'rejected') throw new Error(`No payout is possible: ${preview.rejection.code}`);
    const { afterPostingId, upToPostingId, grossRupiah } = preview;
    const form = { formToken: randomUUID(), afterPostingId, upToPostingId, grossRupiah };
    const requested = await requestByMember(this.#needs, { userId, merchantId }, form);
    if (requested.outcome === 'rejected') throw new Error(`The payout is rejected: ${requested.rejection.code}`);
    return requested.payout;
  }

  /** A payment as its workflow writes it, without the workflow. */
  async #settle(merchantId: string): Promise<void> {
    const amounts = { amountRupiah: NET_RUPIAH, totalRupiah: NET_RUPIAH, netRupiah: NET_RUPIAH, feeRupiah: 0 };
    const terms = newTerms({ merchantId, ...this.catalog, ...amounts });
    const context = { db: this.harness.db, environment: 'sandbox', onDeliveries: () => undefined };
    const at = new Date();
    const step = (version: number) => ({ paymentId: terms.paymentId, version, at });
    await transitionWriters.create(context, creation(terms, at));
    await transitionWriters.issue(context, { ...step(1), qrisPayload: '000201', providerTransactionId: 'T' });
    await transitionWriters.pay(context, { ...step(2), paidAt: at });
    await transitionWriters.settle(context, step(3));
  }

  /** Reads which payouts are completed, while one is awaited. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    while (this.#waiting.size > 0) {
      await sleep(POLL_MS);
      const { rows } = await this.harness.db.query<{ id: string }>(
        "select id from payouts where id = any ($1) and status = 'completed'",
        [[...this.#waiting.keys()]],
      );
      for (const { id } of rows) {
        this.#waiting.get(id)?.();
        this.#waiting.delete(id);
      }
    }
    this.#isPolling = false;
  }
}

async function createPayee(harness: BenchmarkHarness): Promise<Payee> {
  const { id: merchantId } = await createShop(harness.db);
  await prepareBankAccount(harness, merchantId, 'active');
  const [requester, approver] = [await createOwner(), await createOwner()];
  return { merchantId, requester, approver };

  function createOwner(): Promise<string> {
    return createMember(harness.db, `${randomUUID()}@shop.test`, [[merchantId, 'owner']]);
  }
}
