import { z } from 'zod';
import { NotFoundError } from '../../../errors';
import { withUserAudit } from '../../../services/audit/user-audit';
import { closeNotice } from '../../../services/merchants/notices';
import { PageError } from '../../page/page-error';
import { memberPage, redirectTo } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantPaths } from '../paths';
import { userIdentity } from '../user-identity';

/** The button of all notices closes the newest one that its page shows, and the older ones. */
const closingSchema = z.object({ older: z.literal('yes').optional() });

/** Every member can have notices. What this one may not see is not found. */
export const closeNoticeByForm = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'post',
    path: '/m/:code/notices/:notice/close',
    fields: closingSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'log'>, visit, form) {
      const { merchantId, merchantCode } = visit.member;
      const text = String(visit.request.params.notice);
      if (!/^\d{1,15}$/.test(text)) throw new PageError('not_found', 'the path has no id of a notice');
      const withOlder = form.ok && form.values.older !== undefined;
      const reader = { merchantId, userId: visit.session.user.id };
      const action = { action: 'notice.close', target: text } as const;
      await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, () =>
        closeNotice(dependencies.db, reader, { noticeId: Number(text), withOlder }, visit.now),
      ).catch((error: unknown) => {
        throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
      });
      return redirectTo(merchantPaths(merchantCode).home);
    },
  },
);
