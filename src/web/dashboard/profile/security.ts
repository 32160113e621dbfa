import { z } from 'zod';
import { NotFoundError } from '../../../errors';
import { clientAddress } from '../../../http/auth/client-address';
import { readFactors } from '../../../services/identity/factors';
import { signOutOther, signOutOthers } from '../../../services/identity/own-login';
import { listPasskeys } from '../../../services/identity/passkeys';
import { countRecoveryCodes } from '../../../services/identity/recovery-codes';
import { listSessions } from '../../../services/identity/sessions';
import { NO_FIELDS, redirectTo, userPage, type UserVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { pageResponse } from '../merchant-view';
import { renderSecurityPage } from './security-page';
import { doneSchema, userView } from './user-view';

type SecurityDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log'>;

const PATH = '/profile/security';

const showSecurity = userPage({
  method: 'get',
  path: PATH,
  fields: doneSchema,
  async handler(dependencies: SecurityDependencies, visit, form) {
    const { db } = dependencies;
    const { session, now } = visit;
    const factors = await readFactors(db, session.user.id);
    const page = {
      view: userView(dependencies, visit, (form.ok && form.values.done) || null),
      ...factors,
      passkeys: await listPasskeys(db, session),
      recoveryCodes: await countRecoveryCodes(db, session.user.id),
      sessions: await listSessions(db, session, now),
      currentSessionId: session.id,
    };
    return pageResponse(renderSecurityPage(page));
  },
});

/** Ending a session takes access away, so it needs no step-up: a user in a hurry is not stopped. */
const endOne = userPage({
  method: 'post',
  path: `${PATH}/sessions/end`,
  fields: z.object({ session: z.uuid() }),
  async handler(dependencies: SecurityDependencies, visit, form) {
    if (!form.ok) return redirectTo(PATH);
    const { session: sessionId } = form.values;
    await signOutOther(dependencies, byOf(visit), sessionId, visit.now).catch((error: unknown) => {
      // It has ended meanwhile, or it is of another user: the list shows what there is.
      if (!(error instanceof NotFoundError)) throw error;
    });
    return redirectTo(`${PATH}?done=ended`);
  },
});

const endOthers = userPage({
  method: 'post',
  path: `${PATH}/sessions/end-others`,
  fields: NO_FIELDS,
  async handler(dependencies: SecurityDependencies, visit) {
    await signOutOthers(dependencies, byOf(visit), visit.now);
    return redirectTo(`${PATH}?done=others`);
  },
});

export const securityPages = [showSecurity, endOne, endOthers];

const byOf = ({ request, session }: UserVisit) => ({ session, address: clientAddress(request) });
