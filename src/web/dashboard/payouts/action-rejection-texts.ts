import type { MemberPayoutRejection } from '../../../domain/payout-actions';
import type { Language } from '../../../domain/sign-in';

type RejectionTexts = Readonly<Record<MemberPayoutRejection, string>>;

const en: RejectionTexts = {
  not_needed: 'Lunas approves this payout itself.',
  own_request: 'You requested this payout. Another member has to approve it.',
  by_member: 'Another member has to approve it.',
  by_operator: 'Lunas has to approve this payout.',
  member_too_new: 'You may approve payouts once your role, your password and your second factor are a day old.',
  same_person:
    'Another member has to approve it. One person has seen the sign-in links that you and the requester began with.',
  approved: 'The payout is approved already.',
  at_bank: 'The bank has the payout already.',
  ended: 'The payout has ended already.',
};

const id: RejectionTexts = {
  not_needed: 'Lunas menyetujui pencairan ini sendiri.',
  own_request: 'Anda yang meminta pencairan ini. Anggota lain harus menyetujuinya.',
  by_member: 'Anggota lain harus menyetujuinya.',
  by_operator: 'Tim Lunas harus menyetujui pencairan ini.',
  member_too_new: 'Anda dapat menyetujui pencairan setelah peran, kata sandi, dan faktor kedua Anda berumur satu hari.',
  same_person: 'Anggota lain harus menyetujuinya. Tautan masuk Anda dan milik pemohon pernah dilihat orang yang sama.',
  approved: 'Pencairan ini sudah disetujui.',
  at_bank: 'Pencairan ini sudah ada di bank.',
  ended: 'Pencairan ini sudah berakhir.',
};

/** Why a member cannot approve or cancel a payout. */
export const ACTION_REJECTION_TEXTS: Readonly<Record<Language, RejectionTexts>> = { id, en };
