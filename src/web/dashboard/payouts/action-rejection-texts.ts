import type { PayoutStatus } from '../../../domain/payout-transitions';
import type { Language } from '../../../domain/sign-in';
import type { RejectionTexts } from '../../../services/operations/rejections';
import type { actReasons } from '../../../services/payouts/act-on-payout';
import type { approveReasons } from '../../../services/payouts/approve-payout';
import type { MerchantView } from '../merchant-view';
import { SECOND_MEMBER_TEXTS } from '../texts/second-member-texts';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';

const en = {
  not_needed: 'Lunas approves this payout itself.',
  own_request: 'You requested this payout. Another member has to approve it.',
  by_member: 'Another member has to approve it.',
  by_operator: 'Lunas has to approve this payout.',
  approved: 'The payout is approved already.',
  at_bank: 'The bank has the payout already.',
  ended: 'The payout has ended already.',
};

type ActionTexts = Readonly<Record<keyof typeof en, string>>;

const id: ActionTexts = {
  not_needed: 'Lunas menyetujui pencairan ini sendiri.',
  own_request: 'Anda yang meminta pencairan ini. Anggota lain harus menyetujuinya.',
  by_member: 'Anggota lain harus menyetujuinya.',
  by_operator: 'Tim Lunas harus menyetujui pencairan ini.',
  approved: 'Pencairan ini sudah disetujui.',
  at_bank: 'Pencairan ini sudah ada di bank.',
  ended: 'Pencairan ini sudah berakhir.',
};

/** Why a member cannot approve or cancel a payout. */
export const ACTION_REJECTION_TEXTS: Readonly<Record<Language, ActionTexts>> = { id, en };

/** The text of each status in which a payout cannot be approved or cancelled. `requested` is none of them. */
const OF_STATUS = {
  requested: 'ended',
  approved: 'approved',
  submitted: 'at_bank',
  completed: 'ended',
  failed: 'ended',
  cancelled: 'ended',
  returned: 'ended',
} as const satisfies Record<PayoutStatus, keyof ActionTexts>;

/** What prevents the cancellation of a payout. */
export function actRejections({ locale: { language }, texts }: MerchantView): RejectionTexts<typeof actReasons> {
  const { stale } = PAYOUT_FORM_TEXTS[language];
  return {
    wrong_status: ({ status }) => ACTION_REJECTION_TEXTS[language][OF_STATUS[status]],
    refused: () => stale,
    superseded: () => stale,
    temporal_away: () => texts.confirm.unavailable,
  };
}

/** What prevents the approval of a payout. */
export function approveRejections(view: MerchantView): RejectionTexts<typeof approveReasons> {
  const texts = ACTION_REJECTION_TEXTS[view.locale.language];
  return {
    ...actRejections(view),
    ...SECOND_MEMBER_TEXTS[view.locale.language],
    not_needed: () => texts.not_needed,
    own_request: () => texts.own_request,
    by_member: () => texts.by_member,
    by_operator: () => texts.by_operator,
  };
}
