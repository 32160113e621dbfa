import { z } from 'zod';
import { setUserLanguage } from '../../../db/identity/user-profile';
import { LANGUAGES } from '../../../domain/sign-in';
import { clientAddress } from '../../../http/auth/client-address';
import { withUserAudit } from '../../../services/audit/user-audit';
import { redirectTo, userPage } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { languagePath } from './session-paths';

const languageSchema = z.object({ language: z.enum(LANGUAGES) });

/** Changes the language of the user, and returns to the page. */
export const setLanguage = userPage({
  method: 'post',
  path: languagePath.pattern,
  fields: languageSchema,
  async handler({ db, log }: Pick<DashboardDependencies, 'db' | 'log'>, { request, session, returnPath }, form) {
    if (!form.ok) return redirectTo(SIGN_IN_PATHS.home);
    const { user } = session;
    const by = { userId: user.id, merchantId: null, address: clientAddress(request), log };
    await withUserAudit(db, by, { action: 'profile.set', target: user.id }, () =>
      setUserLanguage(db, user.id, form.values.language),
    );
    return redirectTo(returnPath);
  },
});
