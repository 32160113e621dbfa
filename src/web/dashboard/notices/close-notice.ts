import { z } from 'zod';
import { closeNotices } from '../../../services/merchants/notices';
import { PageError } from '../../page/page-error';
import { merchantCode, pagePath } from '../../page/page-path';
import { memberPage, redirectTo } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { submitForm } from '../form-pages';
import { homePath } from '../merchant-view';

export const closeNoticesPath = pagePath('/m/:code/notices/close', { code: merchantCode });

/** The id of a notice, and how often it had occurred when the page was shown: what came since is not closed. */
const SEEN = /^\d{1,15}\.\d{1,9}$/;

const closingSchema = z.object({
  seen: z
    .string()
    .transform((text) => text.split(' '))
    .pipe(z.array(z.string().regex(SEEN).transform(parseSeen)).max(1_000)),
});

function parseSeen(text: string) {
  const [id, count] = text.split('.').map(Number);
  return { id: id ?? 0, count: count ?? 0 };
}

/** Every member can have notices. What this one may not see is not found. */
export const closeNoticesByForm = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'post',
    path: closeNoticesPath.pattern,
    fields: closingSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'cookie' | 'log'>, visit, form) {
      const sessionToken = dependencies.cookie.read(visit.request);
      if (!form.ok || sessionToken === undefined) throw new PageError('not_found', 'the form names no notice');
      const input = { seen: form.values.seen, sessionToken };
      await submitForm(closeNotices, dependencies, visit, input);
      return redirectTo(homePath.to({ code: visit.member.merchantCode }));
    },
  },
);
