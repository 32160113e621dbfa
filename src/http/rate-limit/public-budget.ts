import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../../lib/networks';
import { ApiError } from '../api-error';
import { clientAddress } from '../auth/client-address';

/** The most that a network may use ahead of its rate: a page of the documentation loads six files. */
const BURST_SECONDS = 2;
/** About 2 MB. An attacker with more networks has a budget for each of them. */
const MAX_NETWORKS = 10_000;

interface Bucket {
  requests: number;
  updatedAtMs: number;
}

/**
 * Limits the requests without a key of each client network: an IPv4 address, or a /64 of IPv6. Each process counts its
 * own, in bounded memory.
 */
export class PublicBudget {
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_NETWORKS });

  constructor(private readonly requestsPerSecond: number) {}

  /** Counts a request. @throws ApiError `rate_limited` with `Retry-After` if the network has used its budget */
  count(request: Request): void {
    const network = networkOf(clientAddress(request));
    const bucket = this.#bucketOf(network);
    if (bucket.requests < 1) {
      throw new ApiError('network_rate', 'Too many requests came from this address; try again in 1 s.', {
        headers: { 'Retry-After': '1' },
        internal: `public budget of ${network}`,
      });
    }
    bucket.requests -= 1;
  }

  #bucketOf(network: string): Bucket {
    const nowMs = Date.now();
    const burstLimit = this.requestsPerSecond * BURST_SECONDS;
    const bucket = this.#buckets.get(network) ?? { requests: burstLimit, updatedAtMs: nowMs };
    const earned = (Math.max(nowMs - bucket.updatedAtMs, 0) / 1_000) * this.requestsPerSecond;
    bucket.requests = Math.min(bucket.requests + earned, burstLimit);
    bucket.updatedAtMs = nowMs;
    this.#buckets.set(network, bucket);
    return bucket;
  }
}
