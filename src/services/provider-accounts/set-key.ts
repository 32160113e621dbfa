import { z } from 'zod';
import { keyFingerprint } from '../../crypto/key-fingerprint';
import { ConflictError } from '../../errors';
import { findIdentityInForce, NMID, SHOWN_NAME } from '../merchants/merchant-identity';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import {
  ACCOUNT_COLUMNS,
  findAccount,
  onAccount,
  otherNmidMessage,
  otherNmidReason,
  outdatedMessage,
  outdatedReason,
  requireNmid,
  requireOwnNmid,
  validateServerKey,
  type ProviderAccount,
  type SealingDependencies,
} from './provider-accounts';

const input = z.object({
  /** Absent: the key that is proposed. */
  serverKey: z.string().optional().meta({ isSecret: true }),
  /** Absent: that of the account. */
  nmid: z.string().regex(NMID).optional(),
  /** The name in the customer's app. Absent: that of the account. */
  shownName: z.string().regex(SHOWN_NAME).nullish(),
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
  rejections: { ...outdatedReason, ...otherNmidReason },
  messages: { ...outdatedMessage, ...otherNmidMessage },
  async load({ db }: SealingDependencies, _scope, { account: id }) {
    const account = await findAccount(db, id);
    const owner = account.merchantId === null ? null : await findIdentityInForce(db, account.merchantId);
    return { ...account, owner };
  },
  /** A key can be replaced without a look at an NMID that the merchant had before. */
  allows({ owner, nmid: previousNmid }, _by, input) {
    const nmid = input?.nmid ?? previousNmid;
    if (owner === null || nmid === null || nmid === previousNmid || nmid === owner.nmid) return null;
    return { reason: 'other_nmid', nmid, merchantId: owner.merchantId, own: owner.nmid };
  },
  approval: {
    executes: 'database',
    target: ({ subject: { id, provider, baseUrl } }) => `${provider} at ${baseUrl}, account ${id}`,
    propose({ needs, subject, input: { serverKey, ...input } }) {
      if (serverKey === undefined) return null;
      const { id: account, nmid: previousNmid, shownName: previousShownName } = subject;
      const proposed = {
        keyFingerprint: keyFingerprint(serverKey),
        nmid: requireNmid(input.nmid ?? previousNmid),
        shownName: input.shownName ?? previousShownName,
      };
      const store = () => propose(needs, subject, serverKey, proposed);
      return { parameters: { account, ...proposed, previousNmid, previousShownName }, store };
    },
  },
  async perform({ needs, subject, input: { serverKey, ...input } }) {
    const shop = { nmid: input.nmid ?? subject.nmid, shownName: input.shownName ?? subject.shownName };
    if (serverKey === undefined) return accept(needs, subject, { ...input, ...shop });
    const proposed = { keyFingerprint: keyFingerprint(serverKey), ...shop };
    await propose(needs, subject, serverKey, proposed);
    return accept(needs, subject, proposed);
  },
});

/** Names the proposed key, and the shop whose account it is. */
interface ProposedKey extends Pick<ProviderAccount, 'nmid' | 'shownName'> {
  readonly keyFingerprint?: string | undefined;
}

async function propose(
  { db, loadSealer }: SealingDependencies,
  account: ProviderAccount,
  serverKey: string,
  { keyFingerprint, nmid, shownName }: ProposedKey,
): Promise<void> {
  const { id, purpose, adapter, baseUrl } = account;
  if (purpose === 'payouts') {
    const text = 'An account for payouts has no server key: disable it, and add one with the new credentials.';
    throw new ConflictError('not_allowed', text);
  }
  validateServerKey(account, serverKey);
  if (nmid !== account.nmid) await requireOwnNmid(db, account, nmid);
  const sealed = (await loadSealer()).seal(serverKey, ['provider-server-key', id, adapter, baseUrl]);
  const { rowCount } = await db.query(
    `update provider_accounts set proposed_server_key = $2, proposed_key_fingerprint = $3, proposed_nmid = $4,
       proposed_shown_name = $5
     where id = $1 and status <> 'proposed'`,
    [id, sealed, keyFingerprint, nmid, shownName],
  );
  if (rowCount === 1) return;
  const text = 'The account is proposed: reject its request, and add an account with the other key.';
  throw new ConflictError('not_allowed', text);
}

async function accept({ db }: SealingDependencies, account: ProviderAccount, proposed: ProposedKey) {
  const { keyFingerprint, nmid, shownName } = proposed;
  if (nmid !== account.nmid) await requireOwnNmid(db, account, nmid);
  const { rows } = await db.query<ProviderAccount>(
    `update provider_accounts set sealed_server_key = proposed_server_key, key_fingerprint = proposed_key_fingerprint,
       nmid = proposed_nmid, shown_name = proposed_shown_name, proposed_server_key = null,
       proposed_key_fingerprint = null, proposed_nmid = null, proposed_shown_name = null
     where id = $1 and status <> 'proposed' and proposed_key_fingerprint = $2 and proposed_nmid is not distinct from $3
       and proposed_shown_name is not distinct from $4
     returning ${ACCOUNT_COLUMNS}`,
    [account.id, keyFingerprint, nmid, shownName],
  );
  return rows[0] === undefined ? rejected({ reason: 'superseded' }) : done(rows[0]);
}
