import { z } from 'zod';
import { setUserProfile } from '../../../db/identity/user-profile';
import { LANGUAGES } from '../../../domain/sign-in';
import { clientAddress } from '../../../http/auth/client-address';
import { withUserAudit } from '../../../services/audit/user-audit';
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
    const { db, log } = dependencies;
    const { user } = visit.session;
    if (!form.ok) {
      const errors = fieldTexts(SIGN_IN_TEXTS[visit.language], form.errors);
      const page = { view: userView(dependencies, visit), name: form.sent.name ?? '', errors };
      return pageResponse(renderProfilePage(page), 422);
    }
    const by = { userId: user.id, merchantId: null, address: clientAddress(visit.request), log };
    await withUserAudit(db, by, { action: 'profile.set', target: user.id }, () =>
      setUserProfile(db, user.id, form.values),
    );
    return redirectTo(`${PATH}?done=profile`);
  },
});

export const profilePages = [showProfile, saveProfile];
