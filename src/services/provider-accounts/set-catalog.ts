import { z } from 'zod';
import { MAX_TOTAL_RUPIAH } from '../../domain/money';
import { SETTLEMENT_KINDS } from '../../domain/payment';
import { PAYMENT_METHODS, PROVIDERS } from '../../domain/provider-capabilities';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { findPolicyVersion, NEWER_POLICY, replacePolicy, setPolicy } from './catalog';

/** The longest settlement delay and time to pay: what the schema's integer holds. */
const seconds = z.int().max(2_147_483_647);

/** Writes the next version of a policy. Terms that are absent are copied from the version before. */
export const setCatalog = new Operation({
  name: 'catalog.set',
  operator: 'all',
  path: z.object({ provider: z.enum(PROVIDERS), channel: z.enum(PAYMENT_METHODS) }),
  input: z.object({
    feeBasisPoints: z.int().min(0).max(10_000).optional(),
    feeFlatRupiah: z.int().min(0).max(MAX_TOTAL_RUPIAH).optional(),
    settlementKind: z.enum(SETTLEMENT_KINDS).optional(),
    settlementDelaySeconds: seconds.min(0).optional(),
    expiresInSeconds: seconds.min(1).optional(),
  }),
  rejections: { superseded: {} },
  messages: { superseded: () => NEWER_POLICY },
  async load({ db }: AuditDependencies, _scope, policy) {
    return { ...policy, version: await findPolicyVersion(db, policy) };
  },
  target: ({ subject: { provider, channel } }) => `${provider} ${channel}`,
  approval: { executes: 'database', replaces: ({ version }) => version },
  async perform({ needs: { db }, subject: { provider, channel }, input, approval }) {
    const change = { provider, channel, ...input };
    if (approval === null) return done(await setPolicy(db, change));
    const policy = await replacePolicy(db, change, approval.replaces ?? 0);
    return policy === null ? rejected({ reason: 'superseded' }) : done(policy);
  },
});
