import { z } from 'zod';
import { LANGUAGES } from '../../../domain/sign-in';
import { clientAddress } from '../../../http/auth/client-address';
import { setProfile } from '../../../services/identity/own-login';
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
  async handler(dependencies: Pick<DashboardDependencies, 'db' | 'log'>, { request, session, returnPath }, form) {
    if (!form.ok) return redirectTo(SIGN_IN_PATHS.home);
    await setProfile(dependencies, { session, address: clientAddress(request) }, form.values);
    return redirectTo(returnPath);
  },
});
