import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import { enrolTotp } from '../../../services/identity/sign-in';
import { beginTotpEnrolment } from '../../../services/identity/totp';
import { NO_FIELDS, pendingPage, redirectTo, type PendingVisit } from '../../page/page-route';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderEnrolPage, renderRecoveryCodesPage } from './enrol-page';
import { problemErrors, signInProblem, signInResponse, type SignInProblem } from './sign-in-problem';
import { SIGN_IN_TEXTS } from './sign-in-texts';
import { sessionCookies } from './signed-in';

type FormDependencies = Pick<DashboardDependencies, 'environment' | 'sealer'>;

/** The secret of the page, and a code of the app. An empty field counts as a wrong one. */
export const enrolmentSchema = z.object({
  enrolment: z.string().default(''),
  code: z
    .string()
    .default('')
    .transform((text) => text.replaceAll(/\s/g, '')),
});

const enrolForm = pendingPage({
  method: 'get',
  path: SIGN_IN_PATHS.enrol,
  fields: NO_FIELDS,
  async handler(dependencies: FormDependencies, visit) {
    if (visit.pending.stage !== 'enrol') return redirectTo(withReturn(SIGN_IN_PATHS.code, visit.returnPath));
    return enrolPage(dependencies, visit);
  },
});

/** The recovery codes are in the response itself: no address shows them again. */
const enrol = pendingPage({
  method: 'post',
  path: SIGN_IN_PATHS.enrol,
  fields: enrolmentSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    const { pending, language, now, returnPath } = visit;
    const { enrolment: sealed, code } = form.ok ? form.values : { enrolment: '', code: '' };
    try {
      const proof = { enrolment: { sealed, code }, address: clientAddress(visit.request) };
      const { session, recoveryCodes: codes } = await enrolTotp(dependencies, pending, proof, now);
      const isSandbox = dependencies.environment === 'sandbox';
      const cookies = sessionCookies(dependencies, session, pending.user.email, now);
      return { ...signInResponse(renderRecoveryCodesPage({ language, isSandbox, codes, returnPath })), cookies };
    } catch (error) {
      return enrolPage(dependencies, visit, signInProblem(SIGN_IN_TEXTS[language], error), sealed);
    }
  },
});

export const enrolPages = [enrolForm, enrol];

export function enrolPage(
  { environment, sealer }: FormDependencies,
  { pending, language, returnPath }: PendingVisit,
  problem?: SignInProblem,
  sealed?: string,
  rejected: 'code' | 'passkey' = 'code',
) {
  const html = renderEnrolPage({
    language,
    isSandbox: environment === 'sandbox',
    texts: SIGN_IN_TEXTS[language],
    action: SIGN_IN_PATHS.enrol,
    enrolment: beginTotpEnrolment(sealer, pending, sealed),
    errors: problem === undefined ? {} : problemErrors(problem, rejected),
    returnPath,
  });
  return signInResponse(html, problem);
}
