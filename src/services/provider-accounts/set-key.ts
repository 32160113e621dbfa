import { z } from 'zod';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import { ConflictError } from '../../errors';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import {
  ACCOUNT_COLUMNS,
  findAccount,
  NMID,
  onAccount,
  outdatedMessage,
  outdatedReason,
  requireNmid,
  validateServerKey,
  type ProviderAccount,
  type SealingDependencies,
} from './provider-accounts';

const input = z.object({
  /** Absent: the key that is proposed. */
  serverKey: z.string().optional().meta({ isSecret: true }),
  /** Absent: that of the account. */
  nmid: z.string().regex(NMID).optional(),
  /** Names the proposed key. */
  keyFingerprint: z.string().optional(),
});

/**
 * Replaces the server key after the provider issued a new one. Every process uses it within 2 seconds. In production
 * two operators decide it: until then the key is proposed, sealed, and used for nothing. It replaces an earlier
 * proposal.
 */
export const setServerKey = new Operation({
  name: 'account.set_key',
  ...onAccount,
  input,
  rejections: outdatedReason,
  messages: outdatedMessage,
  load: ({ db }: SealingDependencies, _scope, { account }) => findAccount(db, account),
  approval: {
    executes: 'database',
    target: ({ subject: { id, provider, baseUrl } }) => `${provider} at ${baseUrl}, account ${id}`,
    propose({ needs, subject, input: { serverKey, ...input } }) {
      if (serverKey === undefined) return null;
      const { id: account, nmid: previousNmid } = subject;
      const proposed = { keyFingerprint: keyFingerprint(serverKey), nmid: requireNmid(input.nmid ?? previousNmid) };
      const store = () => propose(needs, subject, serverKey, proposed);
      return { parameters: { account, ...proposed, previousNmid }, store };
    },
  },
  async perform({ needs, subject, input: { serverKey, ...input } }) {
    const nmid = input.nmid ?? subject.nmid;
    if (serverKey === undefined) return accept(needs, subject, { ...input, nmid });
    const proposed = { keyFingerprint: keyFingerprint(serverKey), nmid };
    await propose(needs, subject, serverKey, proposed);
    return accept(needs, subject, proposed);
  },
});

/** Names the proposed key, and the merchant whose account it is. */
interface ProposedKey {
  readonly keyFingerprint?: string | undefined;
  readonly nmid: string | null;
}

async function propose(
  { db, loadSealer }: SealingDependencies,
  account: ProviderAccount,
  serverKey: string,
  { keyFingerprint, nmid }: ProposedKey,
): Promise<void> {
  const { id, purpose, adapter, baseUrl } = account;
  if (purpose === 'payouts') {
    const text = 'An account for payouts has no server key: disable it, and add one with the new credentials.';
    throw new ConflictError('not_allowed', text);
  }
  validateServerKey(account, serverKey);
  const sealed = (await loadSealer()).seal(serverKey, ['provider-server-key', id, adapter, baseUrl]);
  const { rowCount } = await db.query(
    `update provider_accounts set proposed_server_key = $2, proposed_key_fingerprint = $3, proposed_nmid = $4
     where id = $1 and status <> 'proposed'`,
    [id, sealed, keyFingerprint, nmid],
  );
  if (rowCount === 1) return;
  const text = 'The account is proposed: reject its request, and add an account with the other key.';
  throw new ConflictError('not_allowed', text);
}

async function accept({ db }: SealingDependencies, { id }: ProviderAccount, { keyFingerprint, nmid }: ProposedKey) {
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set sealed_server_key = proposed_server_key, key_fingerprint = proposed_key_fingerprint,
       nmid = proposed_nmid, proposed_server_key = null, proposed_key_fingerprint = null, proposed_nmid = null
     where id = $1 and status <> 'proposed' and proposed_key_fingerprint = $2 and proposed_nmid is not distinct from $3
     returning ${ACCOUNT_COLUMNS}`,
    [id, keyFingerprint, nmid],
  );
  return rows[0] === undefined ? rejected({ reason: 'superseded' }) : done(rows[0]);
}
