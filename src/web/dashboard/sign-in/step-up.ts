import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import { readFactors } from '../../../services/identity/factors';
import { stepUp, type Proof } from '../../../services/identity/sign-in';
import { NO_FIELDS, redirectTo, userPage, type UserVisit } from '../../page/page-route';
import { SIGN_IN_PATHS } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { codeProof, problemErrors, signInProblem, signInResponse, type SignInProblem } from './sign-in-problem';
import { SIGN_IN_TEXTS } from './sign-in-texts';
import { renderStepUpPage } from './step-up-page';

type StepUpDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;

const stepUpSchema = z.object({ code: z.string().optional(), password: z.string().optional() });

/** Asks for a fresh proof of identity, and returns to the page that needs it. */
const stepUpForm = userPage({
  method: 'get',
  path: SIGN_IN_PATHS.stepUp,
  isReturnTarget: false,
  fields: NO_FIELDS,
  async handler(dependencies: StepUpDependencies, visit) {
    if (visit.session.method === 'development_link') return redirectTo(visit.returnPath);
    return stepUpPage(dependencies, visit);
  },
});

const proveAgain = userPage({
  method: 'post',
  path: SIGN_IN_PATHS.stepUp,
  fields: stepUpSchema,
  async handler(dependencies: DashboardDependencies, visit, { sent }) {
    const texts = SIGN_IN_TEXTS[visit.language];
    const proof = proofOf(sent);
    if (!proof) {
      return stepUpPage(dependencies, visit, { text: texts.problems.missing, status: 422, headers: {} });
    }
    try {
      const address = clientAddress(visit.request);
      const { token, expiresAt } = await stepUp(dependencies, visit.session, { proof, address }, visit.now);
      return redirectTo(visit.returnPath, [dependencies.cookie.set(token, expiresAt)]);
    } catch (error) {
      const problem = signInProblem(texts, error);
      const isPassword = proof.kind === 'password' && problem.status === 422;
      return stepUpPage(dependencies, visit, isPassword ? { ...problem, text: texts.problems.password } : problem);
    }
  },
});

export const stepUpPages = [stepUpForm, proveAgain];

function proofOf({ code, password }: Readonly<Partial<Record<string, string>>>): Proof | undefined {
  if (code !== undefined) return codeProof(code);
  return password === undefined ? undefined : { kind: 'password', password };
}

/** @param rejected the field that was not accepted; absent: the one of the page */
export async function stepUpPage(
  { db, environment }: StepUpDependencies,
  { language, session, returnPath }: UserVisit,
  problem?: SignInProblem,
  rejected?: 'passkey',
) {
  const { hasTotp, hasPasskey } = await readFactors(db, session.user.id);
  const field = hasTotp || hasPasskey ? 'code' : 'password';
  const errors = problem === undefined ? {} : problemErrors(problem, rejected ?? field);
  const html = renderStepUpPage({
    language,
    isSandbox: environment === 'sandbox',
    field,
    hasPasskey,
    returnPath,
    errors,
  });
  return signInResponse(html, problem);
}
