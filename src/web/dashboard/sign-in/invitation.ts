import { z } from 'zod';
import { clientAddress } from '../../../http/auth/client-address';
import type { EndpointResponse } from '../../../http/endpoint';
import { acceptInvitation, joinMerchant, readInvitation } from '../../../services/identity/members';
import { NO_FIELDS, publicPage, redirectTo, userPage, type Visit } from '../../page/page-route';
import type { FieldErrors } from '../../page/read-form';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { invalidLinkPage } from './invalid-link';
import { renderInvitationPage } from './invitation-page';
import { languageLinks } from './language-links';
import { nameField } from './name-field';
import { mismatchOf, newPasswordFields, rejectedPassword } from './new-password';
import { fieldTexts, formProblem, signInResponse } from './sign-in-problem';
import { SIGN_IN_TEXTS } from './sign-in-texts';
import { browserOf, continueSignIn } from './signed-in';

type InvitationDependencies = Pick<DashboardDependencies, 'db' | 'environment'>;

const PATH = '/invitations/:token';

const acceptSchema = z.object({ name: nameField, ...newPasswordFields });

/** A link preview opens it as well, so it changes nothing. */
const showInvitation = publicPage({
  method: 'get',
  path: PATH,
  isReturnTarget: true,
  fields: NO_FIELDS,
  async handler(dependencies: InvitationDependencies, visit) {
    return orInvalid(visit, async () => signInResponse(await invitationPage(dependencies, visit)));
  },
});

/** A new user: name and password. In production the second factor follows. */
const accept = publicPage({
  method: 'post',
  path: PATH,
  fields: acceptSchema,
  async handler(dependencies: DashboardDependencies, visit, form) {
    return orInvalid(visit, async () => {
      const texts = SIGN_IN_TEXTS[visit.language];
      const { sent } = form;
      const wrong = form.ok ? mismatchOf(form.values) : form.errors;
      if (!form.ok || Object.keys(wrong).length > 0) {
        const errors = fieldTexts(texts, wrong);
        return signInResponse(await invitationPage(dependencies, visit, { name: sent.name, errors }), formProblem(''));
      }
      const { name, password } = form.values;
      const { email } = await readInvitation(dependencies.db, tokenOf(visit), visit.now);
      try {
        const person = { token: tokenOf(visit), name, language: visit.language, password, browser: browserOf(visit) };
        const opened = await acceptInvitation(dependencies, person, visit.now);
        return await continueSignIn(dependencies, visit, opened, email);
      } catch (error) {
        const { errors, problem } = rejectedPassword(texts, error);
        return signInResponse(await invitationPage(dependencies, visit, { name, errors }), problem);
      }
    });
  },
});

/** A known user, who is signed in. */
const join = userPage({
  method: 'post',
  path: `${PATH}/join`,
  fields: NO_FIELDS,
  async handler(dependencies: DashboardDependencies, visit) {
    return orInvalid(visit, async () => {
      const link = { token: tokenOf(visit), address: clientAddress(visit.request) };
      await joinMerchant(dependencies, visit.session, link, visit.now);
      return redirectTo(SIGN_IN_PATHS.home);
    });
  },
});

export const invitationPages = [showInvitation, accept, join];

const tokenOf = ({ request }: Visit) => String(request.params.token);

function orInvalid(visit: Visit, respond: () => Promise<EndpointResponse>): Promise<EndpointResponse> {
  return respond().catch((error: unknown) => {
    return invalidLinkPage(visit, SIGN_IN_TEXTS[visit.language].invitation, error);
  });
}

interface SentForm {
  readonly name: string | undefined;
  readonly errors: FieldErrors;
}

async function invitationPage(
  { db, environment }: InvitationDependencies,
  visit: Visit,
  { name = '', errors }: SentForm = { name: undefined, errors: {} },
): Promise<string> {
  const { language, session, request, now } = visit;
  const { isKnownUser, ...invitation } = await readInvitation(db, tokenOf(visit), now);
  const path = request.path;
  const { action, otherLanguage } = languageLinks(visit, path);
  const page = { language, isSandbox: environment === 'sandbox', ...invitation };
  if (session && session.user.email !== invitation.email) {
    const invited = { kind: 'other_user', signedInAs: session.user.email } as const;
    return renderInvitationPage({ ...page, otherLanguage: null, invited });
  }
  if (session) {
    return renderInvitationPage({
      ...page,
      otherLanguage: null,
      invited: { kind: 'signed_in', joinPath: `${path}/join` },
    });
  }
  const invited = isKnownUser
    ? ({ kind: 'known', loginPath: withReturn(SIGN_IN_PATHS.login, path) } as const)
    : ({ kind: 'new', name, errors, action } as const);
  return renderInvitationPage({ ...page, otherLanguage, invited });
}
