import { z } from 'zod';
import { requireRow } from '../../db/connection/require-row';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ACCOUNT_COLUMNS, onAccount, type ProviderAccount } from './provider-accounts';

/** Limits the calls to an account, of all processes together. Every process applies it within 2 seconds. */
export const setCallRate = new Operation({
  name: 'account.set_rate',
  ...onAccount,
  /** Null: no limit. */
  input: z.object({ callsPerSecond: z.int().min(1).max(10_000).nullable() }),
  async perform({ needs: { db }, subject: { id }, input: { callsPerSecond } }) {
    const { rows } = await db.query<ProviderAccount>(
      `update provider_accounts set calls_per_second = $2 where id = $1 returning ${ACCOUNT_COLUMNS}`,
      [id, callsPerSecond],
    );
    return done(requireRow(rows, 'providerAccount', id));
  },
});
