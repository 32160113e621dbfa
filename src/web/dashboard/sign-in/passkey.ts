import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import { readFactors } from '../../../services/identity/factors';
import {
  beginPasskeySignIn,
  beginPasskeyStepUp,
  finishPasskeySignIn,
  stepUpByPasskey,
} from '../../../services/identity/passkey-sign-in';
import { beginPasskeyRegistration, registerPasskey } from '../../../services/identity/passkeys';
import { endSession } from '../../../services/identity/sessions';
import { NO_FIELDS, pendingPage, publicPage, redirectTo, userPage, type Visit } from '../../page/page-route';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { enrolPage } from './enrol';
import { renderRecoveryCodesPage } from './enrol-page';
import { loginPage } from './login';
import { renderPasskeyPage, type PasskeyRequest } from './passkey-page';
import { problemErrors, signInProblem, signInResponse } from './sign-in-problem';
import { SIGN_IN_TEXTS } from './sign-in-texts';
import { browserOf, continueSignIn, REALM, sessionCookies } from './signed-in';
import { stepUpPage } from './step-up';

/** What the passkey has signed, as JSON. An empty field counts as a wrong one. */
export const passkeySchema = z.object({ response: z.string().default('') });

const LOGIN = SIGN_IN_PATHS.passkey;
const STEP_UP = `${SIGN_IN_PATHS.stepUp}/passkey`;
const ENROL = `${SIGN_IN_PATHS.enrol}/passkey`;

/** The cookie of the browser is from now on that of this sign-in. A sign-in that it began before ends. */
const beginSignIn = publicPage({
  method: 'post',
  path: LOGIN,
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const { session, pending, now, returnPath } = visit;
    if (session) return redirectTo(returnPath);
    try {
      const begun = await beginPasskeySignIn(dependencies, { realm: REALM, browser: browserOf(visit) }, now);
      if (pending) await endSession(dependencies.db, pending.id, now);
      const page = requestPage(dependencies, visit, {
        kind: 'get',
        options: begun.options,
        action: `${LOGIN}/finish`,
        back: withReturn(SIGN_IN_PATHS.login, returnPath),
      });
      return { ...page, cookies: [dependencies.cookie.set(begun.token, begun.expiresAt)] };
    } catch (error) {
      return rejectedSignIn(dependencies, visit, error);
    }
  },
});

const finishSignIn = publicPage({
  method: 'post',
  path: `${LOGIN}/finish`,
  fields: passkeySchema,
  async handler(dependencies: DashboardDependencies, visit, { sent }) {
    if (visit.session) return redirectTo(visit.returnPath);
    try {
      const [token, browser] = [dependencies.cookie.read(visit.request), browserOf(visit)];
      const sentPasskey = { realm: REALM, token, response: sent.response ?? '', browser } as const;
      const { session, email } = await finishPasskeySignIn(dependencies, sentPasskey, visit.now);
      return await continueSignIn(dependencies, visit, session, email);
    } catch (error) {
      return rejectedSignIn(dependencies, visit, error);
    }
  },
});

function rejectedSignIn(dependencies: DashboardDependencies, visit: Visit, error: unknown) {
  const problem = signInProblem(SIGN_IN_TEXTS[visit.language], error);
  return signInResponse(loginPage(dependencies, visit, problemErrors(problem, 'passkey')), problem);
}

const beginStepUp = userPage({
  method: 'post',
  path: STEP_UP,
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const { session, now, returnPath } = visit;
    const { hasPasskey } = await readFactors(dependencies.db, session.user.id);
    if (!hasPasskey) return redirectTo(withReturn(SIGN_IN_PATHS.stepUp, returnPath));
    try {
      const { options } = await beginPasskeyStepUp(dependencies, session, clientAddress(visit.request), now);
      const back = withReturn(SIGN_IN_PATHS.stepUp, returnPath);
      return requestPage(dependencies, visit, { kind: 'get', options, action: `${STEP_UP}/finish`, back });
    } catch (error) {
      return stepUpPage(dependencies, visit, signInProblem(SIGN_IN_TEXTS[visit.language], error), 'passkey');
    }
  },
});

const finishStepUp = userPage({
  method: 'post',
  path: `${STEP_UP}/finish`,
  fields: passkeySchema,
  async handler(dependencies: DashboardDependencies, visit, { sent }) {
    try {
      const proof = { response: sent.response ?? '', address: clientAddress(visit.request) };
      const { token, expiresAt } = await stepUpByPasskey(dependencies, visit.session, proof, visit.now);
      return redirectTo(visit.returnPath, [dependencies.cookie.set(token, expiresAt)]);
    } catch (error) {
      return stepUpPage(dependencies, visit, signInProblem(SIGN_IN_TEXTS[visit.language], error), 'passkey');
    }
  },
});

const beginEnrolment = pendingPage({
  method: 'post',
  path: ENROL,
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    const { pending, now, returnPath } = visit;
    if (pending.stage !== 'enrol') return redirectTo(withReturn(SIGN_IN_PATHS.code, returnPath));
    const { options } = await beginPasskeyRegistration(dependencies, pending, now);
    const back = withReturn(SIGN_IN_PATHS.enrol, returnPath);
    return requestPage(dependencies, visit, { kind: 'create', options, action: `${ENROL}/finish`, back });
  },
});

/** The recovery codes are in the response itself: no address shows them again. */
const finishEnrolment = pendingPage({
  method: 'post',
  path: `${ENROL}/finish`,
  fields: passkeySchema,
  async handler(dependencies: DashboardDependencies, visit, { sent }) {
    const { pending, language, now, returnPath } = visit;
    const texts = SIGN_IN_TEXTS[language];
    try {
      const { firstName: name } = texts.passkey;
      const created = { name, response: sent.response ?? '', address: clientAddress(visit.request) };
      const { session, recoveryCodes: codes } = await registerPasskey(dependencies, pending, created, now);
      const cookies = sessionCookies(dependencies, session, pending.user.email, now);
      if (codes === null) return redirectTo(returnPath, cookies);
      const isSandbox = dependencies.environment === 'sandbox';
      return { ...signInResponse(renderRecoveryCodesPage({ language, isSandbox, codes, returnPath })), cookies };
    } catch (error) {
      return enrolPage(dependencies, visit, signInProblem(texts, error), undefined, 'passkey');
    }
  },
});

export const passkeySignInPages = [
  beginSignIn,
  finishSignIn,
  beginStepUp,
  finishStepUp,
  beginEnrolment,
  finishEnrolment,
];

function requestPage(
  { environment }: Pick<DashboardDependencies, 'environment'>,
  { language, returnPath }: Visit,
  request: Omit<PasskeyRequest, 'fields'>,
) {
  const fields = [['then', returnPath]] as const;
  return signInResponse(renderPasskeyPage({ language, isSandbox: environment === 'sandbox', ...request, fields }));
}
