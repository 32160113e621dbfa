import { z } from 'zod';
import { pagePath } from '../../page/page-path';

export const languagePath = pagePath('/language', {});
/** The address of a link that signs in without a password. */
export const startPath = pagePath('/start/:token', { token: z.string() });
