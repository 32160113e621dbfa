import type { Sample } from '../../observability/metrics';
import type { IssueQrisOutcome } from '../provider';
import { accountLabel } from './measure-calls';

/** The set of an account does not grow further. */
const MAX_MERCHANTS = 100;
/** By account: the merchants whose orders it has rejected since it last accepted one. */
const rejectedMerchants = new Map<string, Set<string>>();

interface Order {
  readonly providerAccountId: string;
  readonly merchantId: string;
}

/**
 * Notes what an account did with an order. One merchant may send orders that no acquirer takes. If the orders of
 * several merchants are rejected and none is accepted, it is the account.
 */
export function noteOrder(
  { providerAccountId, merchantId }: Order,
  outcome: Exclude<IssueQrisOutcome['outcome'], 'indeterminate'>,
): void {
  const account = accountLabel(providerAccountId);
  const merchants = rejectedMerchants.get(account) ?? new Set();
  rejectedMerchants.set(account, merchants);
  if (outcome === 'accepted') merchants.clear();
  else if (merchants.size < MAX_MERCHANTS) merchants.add(merchantId);
}

/** The rejected merchants for metrics. */
export function readRejectedMerchants(): Promise<Sample[]> {
  const samples = [...rejectedMerchants].map(([account, { size }]) => ({
    name: 'lunas_provider_rejected_merchants' as const,
    labels: { account },
    value: size,
  }));
  return Promise.resolve(samples);
}
