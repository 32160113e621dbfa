import { z } from 'zod';
import { getBalance } from '../../../db/ledger/get-balance';
import { findDeveloperAttention } from '../../../db/merchants/find-developer-attention';
import { findFirstSteps } from '../../../db/merchants/find-first-steps';
import { findPaymentAttention } from '../../../db/operations/find-attention';
import { listPaymentPage } from '../../../db/payments/list-payment-page';
import { listOwnPayments } from '../../../db/payments/own-payments';
import { findPayoutAttention } from '../../../db/payouts/find-payout-attention';
import { listNotices } from '../../../services/merchants/notices';
import { memberPage } from '../../page/page-route';
import { dayOf, startOfDay } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { homePath, merchantView, pageResponse } from '../merchant-view';
import { PAYMENT_GROUPS } from '../payments/payment-groups';
import { attentionRows } from './attention-rows';
import { checklistSteps } from './checklist-steps';
import { readHomeFigures } from './home-figures';
import { renderHomePage } from './home-page';
import { RANGE_NAMES } from './home-range';

const NEWEST = 5;
const DAY_MS = 86_400_000;
/** Dead deliveries of these days need attention, and keys that expire within them. */
const ATTENTION_DAYS = 7;
/** How long a merchant is new. */
const NEW_DAYS = 30;

/** What is no range shows today. */
const rangeSchema = z.object({ range: z.enum(RANGE_NAMES).catch('today') });

/** What waits, the figures of a range, the balance, and the newest payments. */
export const showHome = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: homePath.pattern,
    fields: rangeSchema,
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView({ environment }, visit);
      const { merchantId } = visit.member;
      const filter = { merchantId, statuses: null, createdFrom: null, createdTo: null, start: null };
      const range = query.ok ? query.values.range : 'today';
      const { nowMs, locale } = view;
      const daysFromNow = (days: number) => new Date(nowMs + days * DAY_MS);
      const deadFrom = dayOf(daysFromNow(1 - ATTENTION_DAYS), locale.zone);
      const attentionPeriod = {
        deadSince: startOfDay(deadFrom, locale.zone),
        expiresUntil: daysFromNow(ATTENTION_DAYS),
        now: visit.now,
      };
      const userId = visit.session.user.id;
      const isOwn = view.rightRejection('turnover', 'view') !== null;
      const [payments, waiting, payouts, developers, first, notices, figures, balance] = await Promise.all([
        isOwn
          ? listOwnPayments(
              db,
              { merchantId, userId, since: startOfDay(dayOf(visit.now, locale.zone), locale.zone) },
              NEWEST,
            )
          : listPaymentPage(db, filter, NEWEST),
        findPaymentAttention(db, merchantId),
        view.rightRejection('payouts', 'view') === null
          ? findPayoutAttention(db, { merchantId, userId, since: attentionPeriod.deadSince })
          : null,
        view.rightRejection('developers', 'view') === null
          ? findDeveloperAttention(db, merchantId, attentionPeriod)
          : null,
        findFirstSteps(db, { merchantId, userId, newSince: daysFromNow(-NEW_DAYS), paid: PAYMENT_GROUPS.paid }),
        listNotices(db, { merchantId, userId }),
        isOwn ? null : readHomeFigures(db, merchantId, { range, now: visit.now, zone: locale.zone }),
        view.rightRejection('balance', 'view') === null ? getBalance(db, merchantId) : null,
      ]);
      return pageResponse(
        renderHomePage({
          view,
          payments,
          notices,
          attention: attentionRows(view, { payments: waiting, payouts, developers, deadFrom }),
          checklist: checklistSteps(view, first),
          figures,
          balance,
        }),
      );
    },
  },
);
