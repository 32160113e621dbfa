import { z } from 'zod';
import type { Environment } from '../../config';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import { findEnvironment } from '../../db/connection/environment';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { PROVIDERS } from '../../domain/provider-capabilities';
import { PAYMENT_ADAPTERS, PAYOUT_ADAPTERS } from '../../providers/adapters';
import { findIdentityInForce, NMID, SHOWN_NAME, type MerchantIdentity } from '../merchants/merchant-identity';
import { Operation } from '../operations/operation';
import type { Act } from '../operations/operation-spec';
import { done, rejected } from '../operations/rejections';
import { addPayoutsAccount } from './payouts-account';
import {
  ACCOUNT_COLUMNS,
  addAccount,
  addressOf,
  otherNmidMessage,
  otherNmidReason,
  outdatedMessage,
  outdatedReason,
  requireOwnNmid,
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
  /** The name in the customer's app. Absent or null: not known, so not compared. */
  shownName: z.string().regex(SHOWN_NAME).nullish(),
  /** The server key, or what a bank has issued, as a JSON document. Absent: the account is proposed already. */
  key: z.string().optional().meta({ isSecret: true }),
  /** Names the key of the proposed account. */
  keyFingerprint: z.string().optional(),
});
/** The account before it is written. */
interface NewAccountSubject {
  readonly id: string;
  readonly environment: Environment;
  /** The only merchant that it serves; null: a shared account. */
  readonly merchantId: string | null;
  /** The identity of that merchant that is in force. */
  readonly owner: MerchantIdentity | null;
}

type CreateAct = Act<SealingDependencies, NewAccountSubject, z.output<typeof input>>;

/**
 * Adds one of our accounts, for payments or for payouts. In production two operators decide it: until then the account
 * is proposed, and used for nothing.
 */
export const createAccount = new Operation({
  name: 'account.create',
  operator: 'all',
  /** `merchantId`: the only merchant that it serves. Absent or null: a shared account. */
  path: z.object({ account: z.uuid(), merchantId: z.uuid().nullish() }),
  input,
  rejections: {
    ...outdatedReason,
    no_identity: { merchantId: z.string() },
    ...otherNmidReason,
  },
  messages: {
    ...outdatedMessage,
    no_identity: ({ merchantId }) => `Merchant ${merchantId} has no identity in force.`,
    ...otherNmidMessage,
  },
  async load({ db }: SealingDependencies, _scope, { account: id, merchantId = null }): Promise<NewAccountSubject> {
    if (merchantId !== null) await requireMerchant(db, merchantId);
    const owner = merchantId === null ? null : await findIdentityInForce(db, merchantId);
    return { id, merchantId, owner, environment: (await findEnvironment(db)) ?? 'production' };
  },
  allows({ merchantId, owner }, _by, input) {
    const nmid = input?.nmid ?? null;
    if (merchantId === null) return null;
    if (owner === null) return { reason: 'no_identity', merchantId };
    return nmid !== null && nmid !== owner.nmid ? { reason: 'other_nmid', nmid, merchantId, own: owner.nmid } : null;
  },
  target: ({ subject }) => subject.id,
  approval: {
    executes: 'database',
    target: ({ subject, input }) => `${input.provider ?? 'payouts'} at ${addressOf({ ...input, ...subject })}`,
    propose(act) {
      const { subject, input } = act;
      const { adapter, key } = input;
      if (key === undefined) return null;
      const baseUrl = addressOf({ ...input, ...subject });
      const { id: account, merchantId } = subject;
      const shop = shopOfAccount(act);
      const parameters = { account, adapter, baseUrl, keyFingerprint: keyFingerprint(key), ...shop, merchantId };
      return { parameters, store: () => add(act, key, true) };
    },
  },
  async perform(act) {
    const { key } = act.input;
    const account = key === undefined ? await acceptProposal(act) : await add(act, key, false);
    return account === undefined ? rejected({ reason: 'superseded' }) : done(account);
  },
});

/** An own account has NMID and name of the identity in force, unless others are given. */
function shopOfAccount({ subject: { owner }, input }: Pick<CreateAct, 'subject' | 'input'>) {
  return { nmid: input.nmid ?? owner?.nmid ?? null, shownName: input.shownName ?? owner?.tradingName ?? null };
}

async function add(act: CreateAct, key: string, isProposed: boolean): Promise<ProviderAccount> {
  const { needs, subject, input } = act;
  const { provider, baseUrl = '', weight = 1 } = input;
  await requireOwnNmid(needs.db, subject, input.nmid);
  const sealer = await needs.loadSealer();
  const account = { ...input, ...subject, ...shopOfAccount(act), isProposed };
  return provider === undefined
    ? addPayoutsAccount(needs.db, sealer, { ...account, baseUrl, credentials: key })
    : addAccount(needs.db, sealer, { ...account, provider, weight, serverKey: key });
}

/** Undefined: no proposed account has all of this. */
async function acceptProposal({ needs, subject, input }: CreateAct): Promise<ProviderAccount | undefined> {
  await requireOwnNmid(needs.db, subject, input.nmid);
  const { rows } = await needs.db.query<ProviderAccount>(
    `update provider_accounts set status = 'enabled'
     where id = $1 and status = 'proposed' and key_fingerprint = $2 and nmid is not distinct from $3
       and adapter = $4 and base_url = $5 and shown_name is not distinct from $6 and merchant_id is not distinct from $7
     returning ${ACCOUNT_COLUMNS}`,
    [subject.id, input.keyFingerprint, input.nmid, input.adapter, input.baseUrl, input.shownName, subject.merchantId],
  );
  return rows[0];
}
