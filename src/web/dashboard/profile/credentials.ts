import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import { readFactors } from '../../../services/identity/factors';
import { changePassword, enrolTotp, replaceRecoveryCodes } from '../../../services/identity/sign-in';
import { beginTotpEnrolment } from '../../../services/identity/totp';
import { NO_FIELDS, redirectTo, userPage, type UserVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { pageResponse } from '../merchant-view';
import { enrolmentSchema } from '../sign-in/enrol';
import { mismatchOf, newPasswordFields, rejectedPassword } from '../sign-in/new-password';
import {
  fieldTexts,
  problemErrors,
  signInProblem,
  signInResponse,
  type SignInProblem,
} from '../sign-in/sign-in-problem';
import { SIGN_IN_TEXTS } from '../sign-in/sign-in-texts';
import { sessionCookies } from '../sign-in/signed-in';
import {
  renderNewRecoveryCodesPage,
  renderPasswordPage,
  renderShownCodesPage,
  renderTotpPage,
} from './credential-page';
import { userView } from './user-view';

type FormDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>;

const SECURITY = '/profile/security';
const PASSWORD = { path: `${SECURITY}/password`, stepUp: true } as const;
const TOTP = { path: `${SECURITY}/totp`, stepUp: true } as const;
const CODES = { path: `${SECURITY}/recovery-codes`, stepUp: true } as const;

const passwordForm = userPage({
  ...PASSWORD,
  method: 'get',
  fields: NO_FIELDS,
  handler: async (dependencies: FormDependencies, visit) =>
    pageResponse(renderPasswordPage(userView(dependencies, visit), {})),
});

const savePassword = userPage({
  ...PASSWORD,
  method: 'post',
  fields: z.object(newPasswordFields),
  async handler(dependencies: DashboardDependencies, visit, form) {
    const view = userView(dependencies, visit);
    const texts = SIGN_IN_TEXTS[visit.language];
    const wrong = form.ok ? mismatchOf(form.values) : form.errors;
    if (!form.ok || Object.keys(wrong).length > 0) {
      return pageResponse(renderPasswordPage(view, fieldTexts(texts, wrong)), 422);
    }
    try {
      const change = { password: form.values.password, address: clientAddress(visit.request) };
      await changePassword(dependencies, visit.session, change, visit.now);
      return redirectTo(`${SECURITY}?done=password`);
    } catch (error) {
      const { errors, problem } = rejectedPassword(texts, error);
      return signInResponse(renderPasswordPage(view, errors), problem);
    }
  },
});

const totpForm = userPage({
  ...TOTP,
  method: 'get',
  fields: NO_FIELDS,
  handler: async (dependencies: FormDependencies, visit) => totpPage(dependencies, visit),
});

const saveTotp = userPage({
  ...TOTP,
  method: 'post',
  fields: enrolmentSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const { session, now, language } = visit;
    const { enrolment: sealed, code } = form.ok ? form.values : { enrolment: '', code: '' };
    try {
      const proof = { enrolment: { sealed, code }, address: clientAddress(visit.request) };
      const enrolled = await enrolTotp(dependencies, session, proof, now);
      const html = renderShownCodesPage(userView(dependencies, visit), enrolled.recoveryCodes);
      const cookies = sessionCookies(dependencies, enrolled.session, session.user.email, now);
      return { ...pageResponse(html), cookies };
    } catch (error) {
      return totpPage(dependencies, visit, signInProblem(SIGN_IN_TEXTS[language], error), sealed);
    }
  },
});

async function totpPage(dependencies: FormDependencies, visit: UserVisit, problem?: SignInProblem, sealed?: string) {
  const { hasTotp: replaces } = await readFactors(dependencies.db, visit.session.user.id);
  const enrolment = beginTotpEnrolment(dependencies.sealer, visit.session, sealed);
  const errors = problem === undefined ? {} : problemErrors(problem, 'code');
  return signInResponse(renderTotpPage({ view: userView(dependencies, visit), replaces, enrolment, errors }), problem);
}

const newCodesForm = userPage({
  ...CODES,
  method: 'get',
  fields: NO_FIELDS,
  handler: async (dependencies: FormDependencies, visit) =>
    pageResponse(renderNewRecoveryCodesPage(userView(dependencies, visit))),
});

/** A repeat of the form shows newer codes, which are then the only ones: so what is shown last is always valid. */
const createCodes = userPage({
  ...CODES,
  method: 'post',
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const address = clientAddress(visit.request);
    const codes = await replaceRecoveryCodes(dependencies, visit.session, address, visit.now);
    return pageResponse(renderShownCodesPage(userView(dependencies, visit), codes));
  },
});

export const credentialPages = [passwordForm, savePassword, totpForm, saveTotp, newCodesForm, createCodes];
