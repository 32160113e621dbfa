import type { Queryable } from '../../db/connection/pool';
import { findAuthority, findRequiredApproval } from '../../db/identity/members';
import {
  deleteProposedSettings,
  findPayoutSettings,
  findProposedSettings,
  proposePayoutSettings,
  savePayoutSettings,
  saveProposedSettings,
} from '../../db/payouts/payout-settings';
import { actorText } from '../../domain/actor';
import type { ApprovalKind } from '../../domain/payout';
import { DEFAULT_PAYOUT_SETTINGS, type PayoutSettings, type ProposedSettings } from '../../domain/payout-schedule';
import { ConflictError } from '../../errors';
import type { PayoutUser } from './payouts';

/** When the balance of a merchant is paid out without a request. */
export async function getPayoutSettings(db: Queryable, merchantId: string): Promise<PayoutSettings> {
  return (await findPayoutSettings(db, merchantId)) ?? DEFAULT_PAYOUT_SETTINGS;
}

const actorOf = ({ userId }: PayoutUser) => actorText({ kind: 'merchant_user', id: userId });

/** Why a member cannot change or approve the settings. */
export type SettingsRejection = 'own_proposal' | 'member_too_new' | 'same_person' | 'none_counts';

/** Who else has to agree to what the member changes, and why the member cannot change it. */
export interface SettingsRule {
  /** `none`: the member alone. */
  readonly approval: ApprovalKind;
  /** A rejection concerns a schedule; stopping has none. */
  readonly rejection: SettingsRejection | null;
}

/** The rule for a change of a schedule by this member. A trigger has the same one. */
export async function findSettingsRule(db: Queryable, user: PayoutUser): Promise<SettingsRule> {
  const approval = await findRequiredApproval(db, user.merchantId, actorOf(user));
  if (!(await findAuthority(db, user, null)).isAuthorised) return { approval, rejection: 'member_too_new' };
  return { approval, rejection: approval === 'operator' ? 'none_counts' : null };
}

/**
 * A member with the right to authorise changes the settings. A schedule waits for a second member, if there is one: no
 * other one approves its payouts. Stopping needs no other one.
 * @returns whether it is saved, or waits
 * @throws ConflictError `member_too_new`, or `not_allowed` if there are other members and none counts
 */
export async function setPayoutSettings(
  db: Queryable,
  user: PayoutUser,
  settings: PayoutSettings,
  now: Date,
): Promise<'saved' | 'proposed'> {
  const change = { ...settings, merchantId: user.merchantId, changedBy: actorOf(user), changedAt: now };
  if (settings.schedule !== 'manual') {
    const { approval, rejection } = await findSettingsRule(db, user);
    if (rejection === 'member_too_new') {
      throw new ConflictError('member_too_new', 'A member of less than a day cannot change automatic payouts.');
    }
    if (rejection !== null) throw new ConflictError('not_allowed', 'No other member counts as a second person.');
    if (approval === 'second_user') {
      await proposePayoutSettings(db, change);
      return 'proposed';
    }
  }
  await savePayoutSettings(db, change);
  return 'saved';
}

/** The settings that wait for a second member; undefined: none. */
export function getProposedSettings(db: Queryable, merchantId: string): Promise<ProposedSettings | undefined> {
  return findProposedSettings(db, merchantId);
}

/** Why the member cannot approve what is proposed; null: they can. */
export async function findProposedRejection(
  db: Queryable,
  user: PayoutUser,
  { proposedBy }: ProposedSettings,
): Promise<SettingsRejection | null> {
  if (proposedBy === actorOf(user)) return 'own_proposal';
  const { isAuthorised, isSecondUser } = await findAuthority(db, user, proposedBy);
  if (isSecondUser) return null;
  return isAuthorised ? 'same_person' : 'member_too_new';
}

/**
 * A second member approves the settings that they have seen.
 * @throws ConflictError `superseded` if they do not wait any more, `not_allowed` if the member cannot approve them
 */
export async function approvePayoutSettings(db: Queryable, user: PayoutUser, id: string, now: Date): Promise<void> {
  const proposed = await findProposedSettings(db, user.merchantId);
  if (proposed?.id !== id) throw notWaiting();
  const rejection = await findProposedRejection(db, user, proposed);
  if (rejection !== null) throw new ConflictError('not_allowed', `The member cannot approve them: ${rejection}.`);
  const approval = { merchantId: user.merchantId, id, approvedBy: actorOf(user), now };
  if (!(await saveProposedSettings(db, approval))) throw notWaiting();
}

/** Any member with the right to authorise. @throws ConflictError `superseded` if they do not wait any more */
export async function withdrawPayoutSettings(db: Queryable, { merchantId }: PayoutUser, id: string): Promise<void> {
  if (!(await deleteProposedSettings(db, { merchantId, id }))) throw notWaiting();
}

const notWaiting = () => new ConflictError('superseded', 'These settings do not wait any more: look at them again.');
