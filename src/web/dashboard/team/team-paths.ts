import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const member = { code: merchantCode, user: z.uuid() };

export const teamPath = pagePath('/m/:code/team', { code: merchantCode });
export const invitePath = pagePath('/m/:code/team/invite', { code: merchantCode });
export const withdrawPath = pagePath('/m/:code/team/invitations/:invitation/withdraw', {
  code: merchantCode,
  invitation: z.uuid(),
});
export const memberPath = pagePath('/m/:code/team/:user', member);
export const rolePath = pagePath('/m/:code/team/:user/role', member);
export const removePath = pagePath('/m/:code/team/:user/remove', member);
export const resetPath = pagePath('/m/:code/team/:user/reset', member);
