import { z } from 'zod';
import { LANGUAGES } from '../../../domain/sign-in';
import { clientAddress } from '../../../http/auth/client-address';
import { setProfile } from '../../../services/identity/own-login';
import { redirectTo, userPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { pageResponse } from '../merchant-view';
import { nameField } from '../sign-in/name-field';
import { fieldTexts } from '../sign-in/sign-in-problem';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { renderProfilePage } from './profile-page';
import { doneSchema, userView } from './user-view';

const PATH = '/profile';
const profileSchema = z.object({ name: nameField, language: z.enum(LANGUAGES, { error: 'missing' }) });

const showProfile = userPage({
  method: 'get',
  path: PATH,
  fields: doneSchema,
  async handler(dependencies: Pick<DashboardDependencies, 'environment'>, visit, form) {
    const view = userView(dependencies, visit, (form.ok && form.values.done) || null);
    return pageResponse(renderProfilePage({ view, name: visit.session.user.name, errors: {} }));
  },
});

const saveProfile = userPage({
  method: 'post',
  path: PATH,
  fields: profileSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    if (!form.ok) {
      const errors = fieldTexts(SIGN_IN_TEXTS[visit.language], form.errors);
      const page = { view: userView(dependencies, visit), name: form.sent.name ?? '', errors };
      return pageResponse(renderProfilePage(page), 422);
    }
    const by = { session: visit.session, address: clientAddress(visit.request) };
    await setProfile(dependencies, by, form.values);
    return redirectTo(`${PATH}?done=profile`);
  },
});

export const profilePages = [showProfile, saveProfile];
