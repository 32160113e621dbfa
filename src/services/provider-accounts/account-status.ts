import { z } from 'zod';
import { requireRow } from '../../db/connection/require-row';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { ACCOUNT_COLUMNS, onAccount, type AccountAct, type ProviderAccount } from './provider-accounts';

/** New payments do not use the account; its existing payments continue. */
export const disableAccount = new Operation({ name: 'account.disable', ...setStatus('disabled') });

/** New payments use the account again. */
export const enableAccount = new Operation({ name: 'account.enable', ...setStatus('enabled') });

function setStatus(status: 'disabled' | 'enabled') {
  return {
    ...onAccount,
    input: z.object({}),
    async perform({ needs: { db }, subject: { id } }: AccountAct) {
      const { rows } = await db.query<ProviderAccount>(
        `update provider_accounts set status = $2 where id = $1 and status <> 'proposed' returning ${ACCOUNT_COLUMNS}`,
        [id, status],
      );
      return done(requireRow(rows, 'providerAccount', id));
    },
  };
}
