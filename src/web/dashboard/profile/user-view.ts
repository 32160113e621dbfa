import { z } from 'zod';
import type { Environment } from '../../../config';
import type { UserVisit } from '../../page/page-route';
import type { UserView } from './user-page';

const DONE_CODES = ['profile', 'password', 'ended', 'others', 'passkey', 'passkey_renamed', 'passkey_removed'] as const;

/** What the user has just done, as the code in the address. */
export const doneSchema = z.object({ done: z.enum(DONE_CODES).optional() });

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
