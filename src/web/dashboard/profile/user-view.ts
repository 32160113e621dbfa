import { z } from 'zod';
import type { Environment } from '../../../config';
import type { UserVisit } from '../../page/page-route';
import type { UserView } from './user-page';

/** What the user has just done, as the code in the address. */
export const doneSchema = z.object({ done: z.enum(['profile', 'password', 'ended', 'others']).optional() });

export function userView(
  { environment }: { readonly environment: Environment },
  { language, session }: UserVisit,
  done: UserView['done'] = null,
): UserView {
  return {
    language,
    userName: session.user.name,
    email: session.user.email,
    isSandbox: environment === 'sandbox',
    isDevelopmentSession: session.method === 'development_link',
    done,
  };
}
