import { z } from 'zod';
import type { EndpointResponse } from '../../../http/endpoint';
import { readReset, resetLogin } from '../../../services/identity/members';
import { NO_FIELDS, publicPage, type Visit } from '../../page/page-route';
import type { FieldErrors } from '../../page/read-form';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { invalidLinkPage } from './invalid-link';
import { renderResetPage } from './invitation-page';
import { languageLinks } from './language-links';
import { mismatchOf, newPasswordFields, rejectedPassword } from './new-password';
import { fieldTexts, formProblem, signInResponse } from './sign-in-problem';
import { SIGN_IN_TEXTS } from './sign-in-texts';
import { browserOf, continueSignIn } from './signed-in';

type ResetDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;

const PATH = '/reset/:token';

const showReset = publicPage({
  method: 'get',
  path: PATH,
  fields: NO_FIELDS,
  async handler(dependencies: ResetDependencies, visit) {
    return orInvalid(visit, async () => {
      const { email } = await readReset(dependencies.db, tokenOf(visit), visit.now);
      return signInResponse(resetPage(dependencies, visit, email, {}));
    });
  },
});

/** The link is used by a password that is accepted, and by no other. */
const reset = publicPage({
  method: 'post',
  path: PATH,
  fields: z.object(newPasswordFields),
  async handler(dependencies: DashboardDependencies, visit, form) {
    return orInvalid(visit, async () => {
      const texts = SIGN_IN_TEXTS[visit.language];
      const token = tokenOf(visit);
      const { email } = await readReset(dependencies.db, token, visit.now);
      const wrong = form.ok ? mismatchOf(form.values) : form.errors;
      if (!form.ok || Object.keys(wrong).length > 0) {
        return signInResponse(resetPage(dependencies, visit, email, fieldTexts(texts, wrong)), formProblem(''));
      }
      try {
        const { password } = form.values;
        const opened = await resetLogin(dependencies, { token, password, browser: browserOf(visit) }, visit.now);
        return await continueSignIn(dependencies, visit, opened, email);
      } catch (error) {
        const { errors, problem } = rejectedPassword(texts, error);
        return signInResponse(resetPage(dependencies, visit, email, errors), problem);
      }
    });
  },
});

export const resetPages = [showReset, reset];

const tokenOf = ({ request }: Visit) => String(request.params.token);

function orInvalid(visit: Visit, respond: () => Promise<EndpointResponse>): Promise<EndpointResponse> {
  return respond().catch((error: unknown) => invalidLinkPage(visit, SIGN_IN_TEXTS[visit.language].reset, error));
}

function resetPage({ environment }: ResetDependencies, visit: Visit, email: string, errors: FieldErrors): string {
  const { language, request } = visit;
  const isSandbox = environment === 'sandbox';
  return renderResetPage({ language, isSandbox, ...languageLinks(visit, request.path), email, errors });
}
