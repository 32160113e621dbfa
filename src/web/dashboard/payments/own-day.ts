import { sumOwnPayments } from '../../../db/payments/own-payments';
import type { MemberVisit } from '../../page/page-route';
import { dayOf, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { PAYMENT_GROUPS } from './payment-groups';

/** What the user has created since midnight in the merchant's zone. */
export function ownDay({ session, member, now }: Pick<MemberVisit, 'session' | 'member' | 'now'>) {
  const since = startOfDay(dayOf(now, member.timeZone), member.timeZone);
  return { merchantId: member.merchantId, userId: session.user.id, since };
}

/** What the user has taken today. */
export function sumOwnDay({ db }: Pick<DashboardDependencies, 'db'>, day: ReturnType<typeof ownDay>) {
  return sumOwnPayments(db, day, PAYMENT_GROUPS.paid);
}
