import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { openIdentityDetails, requireIdentity } from './merchant-identity';
import { findMerchant } from './merchants';

interface ShowNeeds extends AuditDependencies {
  readonly sealer: Sealer;
}

/** Reads the sealed details of an identity. It changes nothing; the audit log has who read them. */
export const showIdentity = new Operation({
  name: 'identity.show',
  operator: 'all',
  /** `version` absent: the one in force, else the newest. */
  path: z.object({ merchant: z.uuid(), version: z.int().min(1).optional() }),
  input: z.object({}),
  rejections: {},
  messages: {},
  async load({ db }: ShowNeeds, _scope, { merchant, version }) {
    await findMerchant(db, merchant);
    return requireIdentity(db, merchant, version);
  },
  target: ({ subject: { merchantId } }) => merchantId,
  perform: async ({ needs, subject }) => done({ ...subject, details: await openIdentityDetails(needs, subject) }),
});
