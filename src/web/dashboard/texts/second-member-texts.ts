import type { Language } from '../../../domain/sign-in';
import type { RejectionTexts } from '../../../services/operations/rejections';
import type { secondMemberReasons } from '../../../services/payouts/second-member';

const en = {
  member_too_new: () => 'You may do this once your role, your password and your second factor are a day old.',
  same_person: () =>
    'Another member has to do this. One person has seen the invitations or sign-in links of you and the other member.',
} satisfies RejectionTexts<typeof secondMemberReasons>;

const id: typeof en = {
  member_too_new: () => 'Anda dapat melakukan ini setelah peran, kata sandi, dan faktor kedua Anda berumur satu hari.',
  same_person: () =>
    'Anggota lain harus melakukannya. Undangan atau tautan masuk Anda dan pengaju pernah dilihat orang yang sama.',
};

/** Why a member is not the second person of a payout, a schedule or a bank account. */
export const SECOND_MEMBER_TEXTS: Readonly<Record<Language, typeof en>> = { id, en };
