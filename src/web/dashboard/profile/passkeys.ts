import { z } from 'zod';
import { ConflictError, NotFoundError } from '../../../errors';
import { clientAddress } from '../../../http/auth/client-address';
import {
  beginPasskeyRegistration,
  findOwnPasskey,
  registerPasskey,
  removePasskey,
  renamePasskey,
} from '../../../services/identity/passkeys';
import { PageError } from '../../page/page-error';
import { NO_FIELDS, redirectTo, userPage, type UserVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { pageResponse } from '../merchant-view';
import { nameField } from '../sign-in/name-field';
import { passkeySchema } from '../sign-in/passkey';
import { fieldTexts, signInProblem } from '../sign-in/sign-in-problem';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { sessionCookies } from '../sign-in/signed-in';
import { renderShownCodesPage } from './credential-page';
import { renderNewPasskeyPage, renderPasskeyNamePage, renderPasskeyRemovalPage } from './edit-passkey-page';
import { PROFILE_TEXTS } from './profile-texts';
import { userView } from './user-view';

const SECURITY = '/profile/security';
const PASSKEYS = `${SECURITY}/passkeys`;
const NEW = { path: `${PASSKEYS}/new`, stepUp: true } as const;
const ONE = { path: `${PASSKEYS}/:id`, stepUp: true } as const;
const REMOVAL = { path: `${PASSKEYS}/:id/remove`, stepUp: true } as const;
const named = z.object({ name: nameField });

const newForm = userPage({
  ...NEW,
  method: 'get',
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    return pageResponse(renderPasskeyNamePage({ view: userView(dependencies, visit), id: null, name: '', errors: {} }));
  },
});

const begin = userPage({
  ...NEW,
  method: 'post',
  fields: named,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const view = userView(dependencies, visit);
    const name = form.sent.name ?? '';
    const nameAgain = (error: string, status: 409 | 422) =>
      pageResponse(renderPasskeyNamePage({ view, id: null, name, errors: { name: error } }), status);
    if (!form.ok) return nameAgain(nameError(visit, form.errors), 422);
    try {
      const { options } = await beginPasskeyRegistration(dependencies, visit.session, visit.now);
      const request = { kind: 'create', options, action: PASSKEYS, fields: [['name', name]], back: SECURITY } as const;
      return pageResponse(renderNewPasskeyPage(view, request));
    } catch (error) {
      if (error instanceof ConflictError) return nameAgain(PROFILE_TEXTS[view.language].passkeys.tooMany, 409);
      throw error;
    }
  },
});

const finish = userPage({
  method: 'post',
  path: PASSKEYS,
  stepUp: true,
  fields: named.extend(passkeySchema.shape),
  async handler(dependencies: DashboardDependencies, visit, form) {
    const view = userView(dependencies, visit);
    const { session, now, language } = visit;
    const { name = '', response = '' } = form.sent;
    if (!form.ok) {
      const errors = { name: nameError(visit, form.errors) };
      return pageResponse(renderPasskeyNamePage({ view, id: null, name, errors }), 422);
    }
    try {
      const created = { name, response, address: clientAddress(visit.request) };
      const registered = await registerPasskey(dependencies, session, created, now);
      const cookies = sessionCookies(dependencies, registered.session, session.user.email, now);
      if (registered.recoveryCodes === null) return redirectTo(`${SECURITY}?done=passkey`, cookies);
      return { ...pageResponse(renderShownCodesPage(view, registered.recoveryCodes)), cookies };
    } catch (error) {
      const { text, status } = signInProblem(SIGN_IN_TEXTS[language], error);
      return pageResponse(renderPasskeyNamePage({ view, id: null, name, errors: { name: text } }), status);
    }
  },
});

const showOne = userPage({
  ...ONE,
  method: 'get',
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const { id, name } = await ownPasskey(dependencies, visit);
    return pageResponse(renderPasskeyNamePage({ view: userView(dependencies, visit), id, name, errors: {} }));
  },
});

const rename = userPage({
  ...ONE,
  method: 'post',
  fields: named,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const { id } = await ownPasskey(dependencies, visit);
    if (!form.ok) {
      const errors = { name: nameError(visit, form.errors) };
      const page = { view: userView(dependencies, visit), id, name: form.sent.name ?? '', errors };
      return pageResponse(renderPasskeyNamePage(page), 422);
    }
    const change = { id, name: form.values.name, address: clientAddress(visit.request) };
    await renamePasskey(dependencies, visit.session, change, visit.now).catch(rejectUnknown);
    return redirectTo(`${SECURITY}?done=passkey_renamed`);
  },
});

const removalForm = userPage({
  ...REMOVAL,
  method: 'get',
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const passkey = await ownPasskey(dependencies, visit);
    const page = { view: userView(dependencies, visit), passkey, isLast: passkey.isNeeded };
    return pageResponse(renderPasskeyRemovalPage(page));
  },
});

const remove = userPage({
  ...REMOVAL,
  method: 'post',
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const passkey = await ownPasskey(dependencies, visit);
    const removal = { id: passkey.id, address: clientAddress(visit.request) };
    try {
      await removePasskey(dependencies, visit.session, removal, visit.now);
      return redirectTo(`${SECURITY}?done=passkey_removed`);
    } catch (error) {
      if (!(error instanceof ConflictError)) return rejectUnknown(error);
      const view = userView(dependencies, visit);
      return pageResponse(renderPasskeyRemovalPage({ view, passkey, isLast: true }), 409);
    }
  },
});

export const passkeyPages = [newForm, begin, finish, showOne, rename, removalForm, remove];

function nameError({ language }: UserVisit, errors: Readonly<Record<string, string>>): string {
  const { problems } = SIGN_IN_TEXTS[language];
  return fieldTexts(SIGN_IN_TEXTS[language], errors).name ?? problems.missing;
}

/** @throws PageError `not_found` also for a passkey of another user */
async function ownPasskey(dependencies: DashboardDependencies, { session, request }: UserVisit) {
  const id = z.uuid().safeParse(request.params.id);
  if (!id.success) throw new PageError('not_found', 'no id of a passkey');
  return findOwnPasskey(dependencies, session, id.data).catch(rejectUnknown);
}

function rejectUnknown(error: unknown): never {
  throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
}
