import { z } from 'zod';
import { setUserLanguage } from '../../../db/records/user-language';
import { LANGUAGES } from '../../../domain/sign-in';
import { redirectTo, userPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';

/** A page of a merchant, by its characters: never another origin, and nothing that a browser reads as one. */
const OWN_PATH = /^\/m\/[0-9A-Z]{8}(?:\/[\w/.-]*)?$/;

const languageSchema = z.object({ language: z.enum(LANGUAGES), back: z.string().regex(OWN_PATH) });

/** Changes the language of the user, and returns to the page. */
export const setLanguage = userPage({
  method: 'post',
  path: '/language',
  fields: languageSchema,
  async handler({ db }: Pick<DashboardDependencies, 'db'>, { session }, form) {
    if (!form.ok) return redirectTo('/');
    await setUserLanguage(db, session.user.id, form.values.language);
    return redirectTo(form.values.back);
  },
});
