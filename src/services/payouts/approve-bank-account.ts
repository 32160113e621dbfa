import { z } from 'zod';
import { changeBankAccount } from '../../db/transitions/bank-account-transitions';
import { describeAccount } from '../../domain/banks';
import { NAME_MATCHES } from '../../domain/holder-names';
import { Operation } from '../operations/operation';
import type { Act, ActOn } from '../operations/operation-spec';
import { rejected } from '../operations/rejections';
import {
  changedOrStatus,
  changeOf,
  ON_BANK_ACCOUNT,
  statusMessage,
  statusReason,
  type BankAccount,
  type BankAccountNeeds,
} from './bank-accounts';

/** In production two operators approve this account in this version, as both have seen it. */
const ofVersion = {
  executes: 'database',
  /** Whose account it is: both operators read it. */
  target: ({ subject: { id, merchantName, bankCode, lastFour } }: ActOn<BankAccount, unknown>) =>
    `${describeAccount(bankCode, lastFour)} of ${merchantName}, account ${id}`,
  replaces: ({ version }: BankAccount) => version,
} as const;

/** A proposal receives payouts after its cool-down, instead of the account in use. */
export const approveBankAccount = new Operation({
  name: 'bank_account.approve',
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  /** The holder's name as the operator has read it: required unless the names are the same. */
  input: z.object({ confirmedName: z.string().optional().meta({ isSecret: true }) }),
  rejections: {
    ...statusReason,
    waits_for_member: {},
    name_not_confirmed: { nameMatch: z.enum(NAME_MATCHES).nullable() },
  },
  messages: {
    ...statusMessage,
    waits_for_member: () => 'A second member of the merchant has to confirm this account first.',
    name_not_confirmed: ({ nameMatch }) =>
      `The bank's name is ${nameMatch ?? 'unknown'}, not the same: repeat it exactly as the bank reports it.`,
  },
  /** An approved request was allowed when it was made. A trigger compares the second member again. */
  allows({ status, waitsForMember, nameMatch, holderName }, by, input) {
    if (by.kind === 'merchant_user' || by.approval !== undefined) return null;
    if (waitsForMember) return { reason: 'waits_for_member' };
    if (status !== 'pending_approval' || nameMatch === 'same' || input?.confirmedName === holderName) return null;
    return { reason: 'name_not_confirmed', nameMatch };
  },
  approval: ofVersion,
  perform: async (act) => changedOrStatus(act, await changeBankAccount(act.needs.db, 'approve', versionedChange(act))),
});

/** A suspended account receives payouts again, after a new cool-down. */
export const reactivateBankAccount = new Operation({
  name: 'bank_account.reactivate',
  operator: 'all',
  ...ON_BANK_ACCOUNT,
  rejections: { ...statusReason, inquiry_too_old: {} },
  messages: {
    ...statusMessage,
    inquiry_too_old: () => 'Ask the bank for its holder first: the last name is older than 24 hours.',
  },
  approval: ofVersion,
  async perform(act) {
    const change = versionedChange(act);
    const result = await changedOrStatus(act, await changeBankAccount(act.needs.db, 'reactivate', change));
    if (result.outcome === 'done' || act.subject.version !== change.version) return result;
    return result.rejection.status === 'suspended' ? rejected({ reason: 'inquiry_too_old' }) : result;
  },
});

function versionedChange(act: Act<BankAccountNeeds, BankAccount, unknown>) {
  return { ...changeOf(act), version: act.approval?.replaces ?? act.subject.version };
}
