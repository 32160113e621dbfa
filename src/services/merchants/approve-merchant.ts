import { z } from 'zod';
import type { Scope } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { findUnidentified, UNIDENTIFIED_MESSAGES, UNIDENTIFIED_REASONS } from './merchant-identity';
import { changeMerchant, loadMerchant, ofMerchant } from './merchants';

/** Allows a merchant to take payments. In production only one whose identity is in force. */
export const approveMerchant = new Operation({
  name: 'merchant.approve',
  operator: 'all',
  path: ofMerchant.path,
  input: z.object({}),
  rejections: UNIDENTIFIED_REASONS,
  messages: UNIDENTIFIED_MESSAGES,
  async load({ db }: AuditDependencies, scope: Scope, { merchant }) {
    const { id } = await loadMerchant(db, scope, merchant);
    return { id, unidentified: await findUnidentified(db, id) };
  },
  target: ({ subject }) => subject.id,
  allows: ({ unidentified }) => unidentified,
  async perform({ needs: { db }, subject: { id } }) {
    return done(await changeMerchant(db, id, { status: 'approved' }));
  },
});
