import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { networkOf, SITE_GROUPS } from '../../lib/networks';
import { ApiError } from '../api-error';
import { clientAddress } from '../auth/client-address';
import { RateBucket } from './rate-bucket';

/** About 2 MB. An attacker with more networks has a budget for each of them. */
const MAX_NETWORKS = 10_000;
/** A /48 of IPv6 has 65,536 networks of /64, of one customer or, at a mobile operator, of many. */
const BUDGETS_OF_SITE = 4;

/**
 * Limits the requests without a key of each client network: an IPv4 address, or a /64 of IPv6. All networks of a /48
 * have the budgets of four. Each process counts its own, in bounded memory.
 */
export class PublicBudget {
  readonly #buckets = new LRUCache<string, RateBucket>({ max: MAX_NETWORKS });

  constructor(private readonly requestsPerSecond: number) {}

  /**
   * Counts a request.
   * @param cost as how many requests it counts; at most the whole budget of a network
   * @throws ApiError `rate_limited` with `Retry-After` if the network has used its budget
   */
  count(request: Request, cost = 1): void {
    const address = clientAddress(request);
    const buckets = this.#bucketsOf(address);
    const taken = Math.min(cost, ...buckets.map(({ size }) => size));
    if (buckets.every((bucket) => bucket.has(taken))) return buckets.forEach((bucket) => bucket.take(taken));
    throw new ApiError('network_rate', 'Too many requests came from this address; try again in 1 s.', {
      headers: { 'Retry-After': '1' },
      internal: `public budget of ${networkOf(address)}`,
    });
  }

  #bucketsOf(address: string): RateBucket[] {
    const own = this.#bucket(networkOf(address), this.requestsPerSecond);
    if (!isIPv6(address)) return [own];
    return [own, this.#bucket(networkOf(address, SITE_GROUPS), this.requestsPerSecond * BUDGETS_OF_SITE)];
  }

  #bucket(network: string, perSecond: number): RateBucket {
    const bucket = this.#buckets.get(network) ?? new RateBucket(perSecond);
    this.#buckets.set(network, bucket);
    return bucket;
  }
}
