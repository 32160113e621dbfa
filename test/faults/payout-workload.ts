import type { PayoutScenario } from './payout-scenario';

/** Account numbers by what the sandbox's bank does (`src/sandbox/bank/magic-accounts.ts`). */
const RETURNED_AFTER_5_S = '9900000030';
const EXECUTED_AFTER_FAILURE = '9900000031';
export const COMPLETED_AFTER_10_S = '9900000010';
const CLOSED = '9900000050';
const AFTER_CUT_OFF = '9900000052';
/** The bank needs no longer for what it reports later. */
const LATER_MS = 15_000;
const HOLD_MS = 1_500;
/** How many merchants the daily run has to pay. */
const SHOPS = 3;

export const PAYOUT_SCENARIOS = {
  async payout(scenario) {
    const shop = await scenario.openShop();
    await scenario.sell(shop);
    await scenario.requestAndWait(shop);
  },
  async payoutSlow(scenario) {
    const shop = await scenario.openShop({ number: COMPLETED_AFTER_10_S });
    await scenario.sell(shop);
    await scenario.requestAndWait(shop);
  },
  /** Both members request the balance. One of them gets it, and the other one approves. */
  async payoutTwice(scenario) {
    const shop = await scenario.openShop({ hasSecondMember: true });
    await Promise.all([scenario.sell(shop), scenario.sell(shop)]);
    const [first, second] = await Promise.all([
      scenario.request(shop, shop.owner),
      scenario.request(shop, shop.second),
    ]);
    if (first) await scenario.approve(shop, first, shop.second);
    if (second) await scenario.approve(shop, second, shop.owner);
    for (const payout of [first, second]) if (payout) await scenario.waitForRest(payout);
  },
  async payoutCancelled(scenario) {
    const shop = await scenario.openShop({ hasSecondMember: true });
    await scenario.sell(shop);
    const payout = await scenario.request(shop, shop.owner);
    if (!payout) return;
    await Promise.all([scenario.approve(shop, payout, shop.second), scenario.cancel(shop, payout)]);
    await scenario.waitForRest(payout);
  },
  async payoutOnHold(scenario) {
    const shop = await scenario.openShop({ hasSecondMember: true });
    await scenario.sell(shop);
    const payout = await scenario.request(shop, shop.owner);
    if (!payout) return;
    await scenario.whileOnHold(shop, HOLD_MS, () => scenario.approve(shop, payout, shop.second));
    await scenario.waitForRest(payout);
  },
  async payoutInCoolDown(scenario) {
    const shop = await scenario.openShop({ hasSecondMember: true });
    await scenario.sell(shop);
    const payout = await scenario.request(shop, shop.owner);
    if (!payout) return;
    await scenario.restartCoolDown(shop);
    await scenario.approve(shop, payout, shop.second);
    await scenario.waitForRest(payout);
  },
  /** The payout is cancelled, because its account has ended. The next one goes to the new account. */
  async payoutToReplacedAccount(scenario) {
    const shop = await scenario.openShop({ hasSecondMember: true });
    await scenario.sell(shop);
    const payout = await scenario.request(shop, shop.owner);
    if (!payout) return;
    await scenario.replaceAccount(shop);
    await scenario.approve(shop, payout, shop.second);
    await scenario.waitForRest(payout);
    const next = await scenario.request(shop, shop.owner);
    if (!next) return;
    await scenario.approve(shop, next, shop.second);
    await scenario.waitForRest(next);
  },
  async payoutReturned(scenario) {
    const shop = await scenario.openShop({ number: RETURNED_AFTER_5_S });
    await scenario.sell(shop);
    const payout = await scenario.requestAndWait(shop);
    if (payout) await scenario.waitBriefly(payout, 'returned', LATER_MS);
  },
  async payoutExecutedAfterFailure(scenario) {
    const shop = await scenario.openShop({ number: EXECUTED_AFTER_FAILURE });
    await scenario.sell(shop);
    const payout = await scenario.requestAndWait(shop);
    if (payout) await scenario.waitBriefly(payout, 'completed', LATER_MS);
  },
  async payoutRejected(scenario) {
    const shop = await scenario.openShop({ number: CLOSED });
    await scenario.sell(shop);
    await scenario.requestAndWait(shop);
  },
  /** The same balance fails twice: the next payout has another reference. */
  async payoutAfterFailure(scenario) {
    const shop = await scenario.openShop({ number: AFTER_CUT_OFF });
    await scenario.sell(shop);
    await scenario.requestAndWait(shop);
    await scenario.requestAndWait(shop);
  },
  async payoutsOfTheDay(scenario) {
    const shops = await Promise.all(Array.from({ length: SHOPS }, () => scenario.openShop()));
    await Promise.all(shops.map((shop) => scenario.sell(shop)));
    await scenario.runDay(shops);
  },
} as const satisfies Record<string, (scenario: PayoutScenario) => Promise<void>>;

export type PayoutKind = keyof typeof PAYOUT_SCENARIOS;
export const PAYOUT_KINDS = Object.keys(PAYOUT_SCENARIOS).filter(isPayoutKind);

export function isPayoutKind(name: string): name is PayoutKind {
  return name in PAYOUT_SCENARIOS;
}
