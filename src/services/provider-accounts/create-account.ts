import { z } from 'zod';
import type { Environment } from '../../config';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import { findEnvironment } from '../../db/connection/environment';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { PAYMENT_ADAPTERS, PAYOUT_ADAPTERS } from '../../providers/adapters';
import { Operation } from '../operations/operation';
import type { Act } from '../operations/operation-spec';
import { done, rejected } from '../operations/rejections';
import { addPayoutsAccount } from './payouts-account';
import {
  ACCOUNT_COLUMNS,
  addAccount,
  addressOf,
  NMID,
  outdatedMessage,
  outdatedReason,
  type ProviderAccount,
  type SealingDependencies,
} from './provider-accounts';

const input = z.object({
  /** Absent: an account for payouts. */
  provider: z.enum(PROVIDERS).optional(),
  adapter: z.enum([...PAYMENT_ADAPTERS, ...PAYOUT_ADAPTERS]),
  /** Absent: the acquirer's own address for the environment. */
  baseUrl: z.string().optional(),
  weight: z.int().min(1).max(1_000).optional(),
  nmid: z.string().regex(NMID).nullish(),
  /** The server key, or what a bank has issued, as a JSON document. Absent: the account is proposed already. */
  key: z.string().optional().meta({ isSecret: true }),
  /** Names the key of the proposed account. */
  keyFingerprint: z.string().optional(),
});
type CreateAct = Act<
  SealingDependencies,
  { readonly id: string; readonly environment: Environment },
  z.output<typeof input>
>;

/**
 * Adds one of our accounts, for payments or for payouts. In production two operators decide it: until then the account
 * is proposed, and used for nothing.
 */
export const createAccount = new Operation({
  name: 'account.create',
  operator: 'all',
  path: z.object({ account: z.uuid() }),
  input,
  rejections: outdatedReason,
  messages: outdatedMessage,
  load: async ({ db }: SealingDependencies, _scope, { account: id }) => ({
    id,
    environment: (await findEnvironment(db)) ?? 'production',
  }),
  target: ({ subject }) => subject.id,
  approval: {
    executes: 'database',
    target: ({ subject, input }) => `${input.provider ?? 'payouts'} at ${addressOf({ ...input, ...subject })}`,
    propose(act) {
      const { subject, input } = act;
      const { adapter, key, nmid = null } = input;
      if (key === undefined) return null;
      const baseUrl = addressOf({ ...input, ...subject });
      const parameters = { account: subject.id, adapter, baseUrl, keyFingerprint: keyFingerprint(key), nmid };
      return { parameters, store: () => add(act, key, true) };
    },
  },
  async perform(act) {
    const { key } = act.input;
    const account = key === undefined ? await acceptProposal(act) : await add(act, key, false);
    return account === undefined ? rejected({ reason: 'superseded' }) : done(account);
  },
});

async function add({ needs, subject, input }: CreateAct, key: string, isProposed: boolean): Promise<ProviderAccount> {
  const { provider, baseUrl = '', weight = 1 } = input;
  const sealer = await needs.loadSealer();
  const account = { ...input, ...subject, isProposed };
  return provider === undefined
    ? addPayoutsAccount(needs.db, sealer, { ...account, baseUrl, credentials: key })
    : addAccount(needs.db, sealer, { ...account, provider, weight, serverKey: key });
}

/** Undefined: no proposed account has all of this. */
async function acceptProposal({ needs, subject, input }: CreateAct): Promise<ProviderAccount | undefined> {
  const { rows } = await needs.db.query<ProviderAccount>(
    `update provider_accounts set status = 'enabled'
     where id = $1 and status = 'proposed' and key_fingerprint = $2 and nmid is not distinct from $3
       and adapter = $4 and base_url = $5
     returning ${ACCOUNT_COLUMNS}`,
    [subject.id, input.keyFingerprint, input.nmid, input.adapter, input.baseUrl],
  );
  return rows[0];
}
