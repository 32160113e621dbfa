import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { changeBankAccount, stopBankAccount } from '../../src/db/transitions/bank-account-transitions';
import type { PayableRun } from '../../src/domain/payout-preview';
import { isResting } from '../../src/domain/payout-transitions';
import { changeHold } from '../../src/services/merchants/merchants';
import { requireDone } from '../../src/services/operations/require-done';
import { findPayout, listPayouts, previewPayout } from '../../src/services/payouts/payouts';
import { setPayoutSettings } from '../../src/services/payouts/set-payout-settings';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import type { PayoutClient } from '../../src/temporal/payout-client';
import { PAYOUTS_TASK_QUEUE } from '../../workflows/ids';
import { memberOf } from '../support/actors';
import { approveByMember, cancelByMember, requestByMember } from '../support/payout-acts';
import type { Journal } from './journal';
import type { AcknowledgedPayout, Pause } from './payout-journal';
import { openShop, replaceAccount, type Shop, type ShopOptions, type ShopTarget } from './payout-shop';
import type { Random } from './random';
import { CreationRejected, Scenario, type WorkloadTarget } from './scenario';

export interface PayoutTarget extends WorkloadTarget, ShopTarget {
  readonly client: Client;
}

/** What a scenario of the workload gets. */
interface PayoutScenarioParts {
  readonly target: PayoutTarget;
  readonly journal: Journal;
  readonly random: Random;
  readonly abandoned: AbortSignal;
}

const AGAIN_AFTER_MS = 500;
/** More than those of payments: another worker repeats the daily run of a worker that was killed after a minute. */
const SCENARIO_TIMEOUT_MS = 300_000;
const OPERATOR = 'cli:faults';
/** Between two looks of an operator at a payout that may need attention. */
const LOOK_INTERVAL_MS = 2_000;
const RESENT_SHARE = 0.7;

/** Something is unavailable, or not yet so: the step is repeated. */
const AGAIN = Symbol('again');

/** The steps of the members of some merchants, and of an operator, for one payout or several. */
export class PayoutScenario {
  readonly #parts: PayoutScenarioParts;
  readonly #workflows: PayoutClient;
  readonly #merchantIds: string[] = [];
  readonly #deadlineAtMs = Date.now() + SCENARIO_TIMEOUT_MS;
  /** What an operator does with a payout that the bank has never received. */
  #lostAction: 'resend' | 'resolveAsFailed';
  #lookedAtMs = 0;

  constructor(parts: PayoutScenarioParts) {
    this.#parts = parts;
    this.#workflows = new PaymentWorkflowClient(parts.target.client).payouts;
    this.#lostAction = parts.random.chance(RESENT_SHARE) ? 'resend' : 'resolveAsFailed';
  }

  /** The ids of its merchants. */
  get shops(): string {
    return this.#merchantIds.join(' ');
  }

  async openShop(options: ShopOptions = {}): Promise<Shop> {
    const { target, journal } = this.#parts;
    const shop = await this.#repeat('open a shop', () => openShop(target, journal, options));
    this.#merchantIds.push(shop.merchantId);
    return shop;
  }

  /** A customer pays, and the payment is settled. */
  async sell({ secretKey }: Shop): Promise<void> {
    const { target, journal, random, abandoned } = this.#parts;
    const shop = { apiUrl: target.apiUrl, sandbox: target.sandbox, secretKey };
    for (;;) {
      const sale = new Scenario(shop, journal, random.between(100_000, 900_000), abandoned);
      try {
        const payment = await sale.create();
        await sale.pay(payment);
        if ((await sale.waitForFinal(payment)) === 'settled') return;
      } catch (error) {
        if (!(error instanceof CreationRejected)) throw error;
      }
    }
  }

  /** Requests the whole balance, under the same form until there is a result. @returns null if there is no balance */
  async request({ merchantId }: Shop, userId: string): Promise<AcknowledgedPayout | null> {
    const { db } = this.#parts.target;
    const formToken = randomUUID();
    let seen: (PayableRun & { readonly balanceRupiah: number }) | undefined;
    return this.#repeat('request a payout', async () => {
      const preview = await previewPayout(db, merchantId, new Date());
      if (preview.outcome === 'possible') seen = preview;
      else if (!seen) return isWithoutBalance(preview.rejection.code) ? null : AGAIN;
      const { balanceRupiah, ...form } = { ...seen, formToken };
      const { afterPostingId, upToPostingId, grossRupiah } = form;
      const request = { formToken, afterPostingId, upToPostingId, grossRupiah };
      const result = await requestByMember(this.#dependencies, { userId, merchantId }, request);
      if (result.outcome === 'rejected') {
        seen = undefined;
        return isWithoutBalance(result.rejection.code) ? null : AGAIN;
      }
      const { id, referenceId, feeRupiah, amountRupiah } = result.payout;
      const acknowledged = { id, referenceId, merchantId, grossRupiah, feeRupiah, amountRupiah, balanceRupiah };
      this.#journal.requested.push(acknowledged);
      return acknowledged;
    });
  }

  /** The payout of a merchant with one member: the workflow approves it. */
  async requestAndWait(shop: Shop): Promise<AcknowledgedPayout | null> {
    const payout = await this.request(shop, shop.owner);
    if (payout) await this.waitForRest(payout);
    return payout;
  }

  /** Until it is approved, or ended. */
  async approve({ merchantId }: Shop, { id }: AcknowledgedPayout, userId: string): Promise<void> {
    await this.#repeat('approve a payout', async () => {
      const { status, version } = await findPayout(this.#parts.target.db, merchantId, id);
      if (status !== 'requested') return;
      await approveByMember(this.#dependencies, { userId, merchantId }, { payout: id, version });
      this.#journal.done.push({ payoutId: id, action: 'approve' });
    });
  }

  /** Until it is cancelled, or it is too late. */
  async cancel({ merchantId, owner }: Shop, { id }: AcknowledgedPayout): Promise<void> {
    await this.#repeat('cancel a payout', async () => {
      const { status, version } = await findPayout(this.#parts.target.db, merchantId, id);
      if (status !== 'requested' && status !== 'approved') return;
      await cancelByMember(this.#dependencies, { userId: owner, merchantId }, { payout: id, version });
      this.#journal.done.push({ payoutId: id, action: 'cancel' });
    });
  }

  /** An operator puts the merchant on hold, and releases it after a while. */
  async whileOnHold({ merchantId }: Shop, holdMs: number, work: () => Promise<void>): Promise<void> {
    const { db } = this.#parts.target;
    await this.#repeat('hold a merchant', () => changeHold(db, merchantId, true));
    const pause = this.#begin(merchantId);
    await work();
    await sleep(holdMs);
    pause.toMs = Date.now();
    await this.#repeat('release a merchant', () => changeHold(db, merchantId, false));
  }

  /** An operator suspends the bank account, and reactivates it. */
  async restartCoolDown({ merchantId, bankAccountId: id }: Shop): Promise<void> {
    const { db } = this.#parts.target;
    const change = () => ({ id, merchantId, version: null, at: new Date(), actor: OPERATOR }) as const;
    await this.#repeat('suspend an account', () => stopBankAccount(db, 'suspend', change(), 'fault test'));
    const pause = this.#begin(id);
    pause.toMs = await this.#repeat('reactivate an account', async () => {
      await changeBankAccount(db, 'reactivate', change());
      const { rows } = await db.query<{ usableFrom: Date; status: string }>(
        'select usable_from as "usableFrom", status from bank_accounts where id = $1',
        [id],
      );
      return rows[0]?.status === 'active' ? rows[0].usableFrom.getTime() : AGAIN;
    });
  }

  async replaceAccount(shop: Shop): Promise<void> {
    const { target, journal } = this.#parts;
    const id = await this.#repeat('replace an account', () => replaceAccount(target, journal, shop));
    this.#begin(shop.bankAccountId).toMs = Infinity;
    shop.bankAccountId = id;
  }

  /** Meanwhile an operator handles a payout that needs attention. */
  async waitForRest({ id, merchantId }: Pick<AcknowledgedPayout, 'id' | 'merchantId'>): Promise<void> {
    await this.#repeat(`wait for payout ${id}`, async () => {
      const { status, version } = await findPayout(this.#parts.target.db, merchantId, id);
      if (isResting(status)) return null;
      if (status === 'submitted') await this.#lookAt({ payoutId: id, merchantId, version });
      return AGAIN;
    });
  }

  /** What the bank reports later may come without a notification: then the reconciliation finds it. */
  async waitBriefly({ id, merchantId }: AcknowledgedPayout, status: string, timeoutMs: number): Promise<void> {
    const untilMs = Date.now() + timeoutMs;
    await this.#repeat(`wait for payout ${id} to be ${status}`, async () => {
      if (Date.now() > untilMs) return null;
      const found = await findPayout(this.#parts.target.db, merchantId, id);
      return found.status === status ? null : AGAIN;
    });
  }

  /** The daily run, until each shop has its payout and that rests. @throws Error if a shop has two of them */
  async runDay(shops: readonly Shop[]): Promise<void> {
    const { db, client } = this.#parts.target;
    const settings = { schedule: 'daily', weekday: null, minimumRupiah: 50_000 } as const;
    for (const { owner: userId, merchantId } of shops) {
      const owner = memberOf({ userId, merchantId, role: 'owner' });
      await this.#repeat('set a schedule', async () =>
        requireDone(await setPayoutSettings.run({ db }, owner, { path: {}, input: settings, formId: randomUUID() })),
      );
    }
    await this.#repeat('run the day', async () => {
      const counts = await Promise.all(shops.map(async (shop) => (await this.#listPayouts(shop)).length));
      if (counts.every((count) => count > 0)) return null;
      // Temporal may have lost the run. A second one continues.
      const running = client.workflow.list({
        query: "WorkflowType = 'requestScheduledPayouts' and ExecutionStatus = 'Running'",
      });
      for await (const _ of running) return AGAIN;
      const run = { taskQueue: PAYOUTS_TASK_QUEUE, workflowId: `requestScheduledPayouts-${randomUUID()}` };
      await client.workflow.start('requestScheduledPayouts', run);
      return AGAIN;
    });
    for (const shop of shops) {
      const payouts = await this.#repeat('list payouts', () => this.#listPayouts(shop));
      if (payouts.length !== 1) throw new Error(`${shop.merchantId} has ${payouts.length} payouts of one day`);
      for (const payout of payouts) await this.waitForRest(payout);
    }
  }

  #listPayouts({ merchantId }: Shop) {
    const filter = { merchantId, status: null, from: null, to: null, after: null, limit: 10 };
    return listPayouts(this.#parts.target.db, filter);
  }

  /** An operator sends a payout again that the bank does not know, once, or resolves it. */
  async #lookAt(key: { readonly payoutId: string; readonly merchantId: string; readonly version: number }) {
    if (Date.now() - this.#lookedAtMs < LOOK_INTERVAL_MS) return;
    this.#lookedAtMs = Date.now();
    const { attentionReason } = (await this.#workflows.queryStatus(key.payoutId)) ?? {};
    if (!attentionReason?.includes('does not know')) return;
    const action = this.#lostAction;
    const { outcome } = await this.#workflows.perform(key, action, { name: OPERATOR, note: 'fault test' });
    if (outcome !== 'done' || action !== 'resend') return;
    this.#journal.done.push({ payoutId: key.payoutId, action });
    // The bank may reject it again. After a second call nothing but an operator makes it failed.
    this.#lostAction = 'resolveAsFailed';
  }

  get #dependencies() {
    return { db: this.#parts.target.db, workflows: { payouts: this.#workflows } };
  }

  get #journal() {
    return this.#parts.journal.payouts;
  }

  #begin(subject: string): Pause {
    const pause = { subject, fromMs: Date.now(), toMs: null };
    this.#journal.pauses.push(pause);
    return pause;
  }

  /** Repeats a step while it fails, or while its result is `AGAIN`. */
  async #repeat<T>(what: string, step: () => Promise<T | typeof AGAIN>): Promise<T> {
    for (let reason = 'not yet'; ;) {
      this.#parts.abandoned.throwIfAborted();
      try {
        const result = await step();
        if (result !== AGAIN) return result;
      } catch (error) {
        reason = String(error);
      }
      if (Date.now() > this.#deadlineAtMs) throw new Error(`${what}: ${reason}`);
      await sleep(AGAIN_AFTER_MS);
    }
  }
}

function isWithoutBalance(code: string): boolean {
  return code === 'nothing_to_pay' || code === 'negative_balance';
}
