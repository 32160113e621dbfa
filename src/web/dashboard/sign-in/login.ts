import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import { completeSignIn, signInWithPassword } from '../../../services/identity/sign-in';
import { attributesOf } from '../../page/field-attributes';
import { NO_FIELDS, pendingPage, publicPage, redirectTo, type PendingVisit, type Visit } from '../../page/page-route';
import type { FieldErrors } from '../../page/read-form';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { languageLinks } from './language-links';
import { renderCodePage, renderLoginPage } from './login-page';
import { codeProof, fieldTexts, formProblem, problemErrors, signInProblem, signInResponse } from './sign-in-problem';
import { SIGN_IN_TEXTS } from './sign-in-texts';
import { browserOf, continueSignIn, REALM } from './signed-in';

type FormDependencies = Pick<DashboardDependencies, 'environment'>;

const MAX_EMAIL_CHARACTERS = 254;
const loginSchema = z.object({
  email: z.string({ error: 'missing' }).max(MAX_EMAIL_CHARACTERS, { error: 'credentials' }),
  password: z.string({ error: 'missing' }),
});
const codeSchema = z.object({ code: z.string({ error: 'missing' }) });

/** A user who is signed in has nothing to do here. */
const loginForm = publicPage({
  method: 'get',
  path: SIGN_IN_PATHS.login,
  fields: NO_FIELDS,
  async handler(dependencies: FormDependencies, visit) {
    if (visit.session) return redirectTo(visit.returnPath);
    return signInResponse(loginPage(dependencies, visit, {}));
  },
});

/** An unknown e-mail and a wrong password have the same text, and take the same time. */
const login = publicPage({
  method: 'post',
  path: SIGN_IN_PATHS.login,
  fields: loginSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const texts = SIGN_IN_TEXTS[visit.language];
    if (!form.ok) {
      const html = loginPage(dependencies, visit, fieldTexts(texts, form.errors), form.sent.email);
      return signInResponse(html, formProblem(''));
    }
    const { email, password } = form.values;
    try {
      const knownBrowser = dependencies.browserCookie.read(visit.request);
      const attempt = { realm: REALM, email, password, browser: browserOf(visit), knownBrowser } as const;
      const opened = await signInWithPassword(dependencies, attempt, visit.now);
      return await continueSignIn(dependencies, visit, opened, email);
    } catch (error) {
      const problem = signInProblem(texts, error);
      return signInResponse(loginPage(dependencies, visit, problemErrors(problem, 'password'), email), problem);
    }
  },
});

export function loginPage({ environment }: FormDependencies, visit: Visit, errors: FieldErrors, email = ''): string {
  const { language, returnPath } = visit;
  const links = languageLinks(visit, withReturn(SIGN_IN_PATHS.login, returnPath));
  const attributes = attributesOf(loginSchema);
  const form = { email, returnPath, errors, attributes };
  return renderLoginPage({ language, isSandbox: environment === 'sandbox', ...links, ...form });
}

/** The second factor. */
const codeForm = pendingPage({
  method: 'get',
  path: SIGN_IN_PATHS.code,
  fields: NO_FIELDS,
  async handler(dependencies: FormDependencies, visit) {
    if (visit.pending.stage === 'enrol') return redirectTo(withReturn(SIGN_IN_PATHS.enrol, visit.returnPath));
    return signInResponse(codePage(dependencies, visit, {}));
  },
});

const enterCode = pendingPage({
  method: 'post',
  path: SIGN_IN_PATHS.code,
  fields: codeSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const texts = SIGN_IN_TEXTS[visit.language];
    if (!form.ok) {
      return signInResponse(codePage(dependencies, visit, fieldTexts(texts, form.errors)), formProblem(''));
    }
    try {
      const { request } = visit;
      const knownBrowser = dependencies.browserCookie.read(request);
      const step = { proof: codeProof(form.values.code), address: clientAddress(request), knownBrowser };
      const opened = await completeSignIn(dependencies, visit.pending, step, visit.now);
      return await continueSignIn(dependencies, visit, opened, visit.pending.user.email);
    } catch (error) {
      const problem = signInProblem(texts, error);
      return signInResponse(codePage(dependencies, visit, problemErrors(problem, 'code')), problem);
    }
  },
});

function codePage({ environment }: FormDependencies, { language, returnPath }: PendingVisit, errors: FieldErrors) {
  return renderCodePage({ language, isSandbox: environment === 'sandbox', returnPath, errors });
}

export const loginPages = [loginForm, login, codeForm, enterCode];
