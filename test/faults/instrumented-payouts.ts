import type { PayoutProvider } from '../../src/providers/payout-provider';
import type { PayoutRegistry, PayoutsAccount } from '../../src/providers/payout-registry';
import type { PayoutWorkflows } from '../../src/services/payouts/payouts';
import { hitBreakpoint } from './breakpoint';
import type { QueryBreakpoints } from './instrumented';
import type { Mutant } from './mutants';
import { breakBank } from './payout-mutants';

export const PAYOUTS_BREAKPOINTS = {
  inside: { payout_complete: 'K16' },
  before: { payout_request: 'K13', payout_return: 'K18' },
  after: { payout_submit: 'K14' },
} as const satisfies QueryBreakpoints;

/** How long a late bank does not know a payout that it has. */
const BANK_LATE_MS = 5_000;

interface BankOptions {
  /** Its status is behind its executions. */
  readonly isBankLate: boolean;
  readonly mutant: Mutant | null;
}

/** The payouts accounts, with breakpoints around the calls to the bank. */
export function instrumentPayouts(registry: PayoutRegistry, { isBankLate, mutant }: BankOptions): PayoutRegistry {
  const instrument = (account: PayoutsAccount | undefined) =>
    account && { ...account, provider: breakBank(instrumentBank(account.provider, isBankLate), mutant) };
  return {
    ...registry,
    findPayoutsAccount: async () => instrument(await registry.findPayoutsAccount()),
    findAccount: async (accountId) => instrument(await registry.findAccount(accountId)),
  };
}

function instrumentBank(bank: PayoutProvider, isLate: boolean): PayoutProvider {
  return {
    ...bank,
    async sendPayout(order, call) {
      const outcome = await bank.sendPayout(order, call);
      // The bank may have executed a call whose response was lost.
      if (outcome.outcome !== 'rejected') await hitBreakpoint('K15');
      return outcome;
    },
    async findPayout(key, call) {
      const sinceMs = Date.now() - (key.submittedAt?.getTime() ?? 0);
      return isLate && sinceMs < BANK_LATE_MS ? { outcome: 'not_found' } : bank.findPayout(key, call);
    },
  };
}

/** What the daily run requests, with a breakpoint behind each merchant. */
export function instrumentDailyRun(workflows: PayoutWorkflows): PayoutWorkflows {
  return {
    perform: (...request) => workflows.perform(...request),
    findRequest: (payoutId) => workflows.findRequest(payoutId),
    async request(request) {
      const result = await workflows.request(request);
      await hitBreakpoint('K19');
      return result;
    },
  };
}
