import { z } from 'zod';
import { ATTENTION_LIMIT, findPaymentAttention, type PaymentAttention } from '../../../db/queries/find-attention';
import { listPaymentPage } from '../../../db/queries/list-payment-page';
import { listNotices } from '../../../services/merchants/notices';
import { getBalance } from '../../../services/payouts/balance';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { readHomeFigures } from './home-figures';
import { renderHomePage } from './home-page';
import { RANGE_NAMES } from './home-range';

const NEWEST = 5;

/** What is no range shows today. */
const rangeSchema = z.object({ range: z.enum(RANGE_NAMES).catch('today') });

/** What waits, the figures of a range, the balance, and the newest payments. */
export const showHome = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: '/m/:code',
    fields: rangeSchema,
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView({ environment }, visit);
      const { merchantId } = visit.member;
      const filter = { merchantId, statuses: null, createdFrom: null, createdTo: null, start: null };
      const range = query.ok ? query.values.range : 'today';
      const [payments, attention, notices, figures, balance] = await Promise.all([
        listPaymentPage(db, filter, NEWEST),
        findPaymentAttention(db, merchantId),
        listNotices(db, { merchantId, userId: visit.session.user.id }),
        readHomeFigures(db, merchantId, { range, now: visit.now, zone: view.locale.zone }),
        view.rightRejection('balance', 'view') === null ? getBalance(db, merchantId) : null,
      ]);
      return pageResponse(
        renderHomePage({ view, payments, notices, attention: attentionRows(view, attention), figures, balance }),
      );
    },
  },
);

/** Each is a link to the list that it counts. */
function attentionRows({ texts, paths }: MerchantView, counts: PaymentAttention) {
  const { home } = texts;
  const row = (text: string, status: string) => ({ text, link: { href: paths.list({ status }), label: home.show } });
  const shown = (count: number) => (count >= ATTENTION_LIMIT ? `${ATTENTION_LIMIT}+` : String(count));
  const { refundsFailed, refundsUnconfirmed } = counts;
  return [
    ...(refundsFailed > 0 ? [row(home.refundsFailed(shown(refundsFailed)), 'refund_failed')] : []),
    ...(refundsUnconfirmed > 0 ? [row(home.refundsUnconfirmed(shown(refundsUnconfirmed)), 'refund_processing')] : []),
  ];
}
