import { z } from 'zod';
import { dashboardUrlOf } from '../../config';
import { listInvitationsOf, mayInviteAlone } from '../../db/identity/invitations';
import { actorText } from '../../domain/actor';
import { MEMBER_ROLES } from '../../domain/member-roles';
import { requestApproval, requireApproval } from '../../services/audit/request-approval';
import {
  CONFIRM_USER,
  confirmUser,
  createResetLink,
  DISABLE_USER,
  disableUser,
  findUnconfirmedUser,
  INVITE_USER,
  inviteMember,
  listMembers,
  RESET_USER,
} from '../../services/identity/members';
import { createDevelopmentLink, LINK_USER } from '../../services/identity/sessions';
import { DEMO_OWNER_EMAIL } from '../../services/sandbox/seed-demo';
import type { CommandContext } from '../command-context';
import { howToApprove } from '../error-hints';
import type { LunasCommand } from '../lunas-command';
import { id, oneOf } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';

const MAX_EMAIL_CHARACTERS = 254;

const email = z
  .email({ error: 'must be an e-mail address' })
  .max(MAX_EMAIL_CHARACTERS, `must have at most ${MAX_EMAIL_CHARACTERS} characters`);

const PASS_ON = 'The link is not shown again, and works once.';

/** `DASHBOARD_URL`, else the address of the running local stack. */
async function dashboardUrl(context: CommandContext): Promise<string> {
  const runFile = context.config.DASHBOARD_URL === undefined ? await context.runFile() : null;
  return runFile?.dashboard_url ?? dashboardUrlOf(context.config);
}

export function addUsersCommand(program: LunasCommand): void {
  const users = program.command('users').description('who signs in to the merchant dashboard');
  addInvite(users);
  users
    .command('list')
    .description('list the members of merchants, without their credentials, and the invitations that are open')
    .option('--merchant <merchant-id>', 'only of this merchant')
    .databaseAction(z.object({ merchant: id.optional() }), async ({ merchant }, db) => {
      const members = await listMembers(db, merchant ?? null);
      const rows = members.map((member) => ({
        USER: member.userId,
        'E-MAIL': member.email,
        NAME: member.name,
        MERCHANT: member.merchantId,
        ROLE: member.role,
        'SECOND FACTOR': member.hasSecondFactor ? 'yes' : 'no',
        'LAST SEEN': member.lastSeenAt,
        DISABLED: member.disabledAt,
      }));
      const invitations = await listInvitationsOf(db, merchant ?? null, new Date());
      const invited = invitations.map(({ email, merchantId, role, createdBy, expiresAt }) => ({
        INVITED: email,
        MERCHANT: merchantId,
        ROLE: role,
        BY: createdBy,
        EXPIRES: expiresAt,
      }));
      const text = [
        formatTable(rows, 'There is no member yet.'),
        ...(invited.length > 0 ? [formatTable(invited, '')] : []),
      ].join('\n\n');
      return { json: { members, invitations }, text };
    });
  addLink(users);
  addReset(users);
  addConfirm(users);
  users
    .command('disable <user-id>')
    .description('sign a user out everywhere, for good')
    .writeAction(z.object({ userId: id }), async ({ userId }, audit) => {
      await audit.record(DISABLE_USER, userId, () => disableUser(audit.db, userId, new Date()));
      return { json: { userId }, text: `The user ${userId} is disabled, and signed out everywhere.` };
    });
}

/** In production an operator invites only the first member alone, before a payment: afterwards an owner can. */
function addInvite(users: LunasCommand): void {
  users
    .command('invite')
    .description('invite a person to a merchant: the first owner, who invites the others on the dashboard')
    .requiredOption('--merchant <merchant-id>', 'the merchant')
    .requiredOption('--email <address>', 'the invitation is only for this e-mail address')
    .requiredOption('--role <role>', MEMBER_ROLES.join(', '))
    .examples('lunas users invite --merchant MERCHANT_ID --email sri@toko.example --role owner')
    .writeAction(
      z.object({ merchant: id, email, role: oneOf(MEMBER_ROLES) }),
      async ({ merchant: merchantId, email: address, role }, audit, context, environment) => {
        const email = address.toLowerCase();
        const isApproved = environment !== 'production' || (await mayInviteAlone(audit.db, merchantId));
        const request = { merchantId, email, role, createdBy: actorText(audit.actor), isApproved };
        const { id, token, expiresAt } = await audit.record(INVITE_USER, merchantId, () =>
          inviteMember(audit.db, request, new Date()),
        );
        const link = `${await dashboardUrl(context)}/invitations/${token}`;
        const parameters = { linkId: id, merchantId, email, role };
        const approval = { action: 'user.invite', target: merchantId, parameters } as const;
        const approvalId = isApproved ? null : await requestApproval(audit, audit.actor, approval, audit.note);
        const invitation = { id, email, role, expiresAt: isApproved ? expiresAt : null, link };
        const fields = { Link: link, 'E-mail': email, Role: role, ...(isApproved && { Expires: expiresAt }) };
        return linkResult({ invitation }, fields, approvalId);
      },
    );
}

function addLink(users: LunasCommand): void {
  users
    .command('link')
    .description('print a link that signs a user of a sandbox in, once and without a password')
    .option('--email <address>', 'the user', DEMO_OWNER_EMAIL)
    .writeAction(z.object({ email }), async ({ email }, audit, context) => {
      const request = { realm: 'merchant', email, createdBy: actorText(audit.actor) } as const;
      const token = await audit.record(LINK_USER, email, () => createDevelopmentLink(audit.db, request, new Date()));
      const link = `${await dashboardUrl(context)}/start/${token}`;
      return { json: { link }, text: link };
    });
}

/** A link that is passed on, and the request that it waits for; null: none. */
function linkResult(
  json: object,
  fields: Parameters<typeof formatFields>[0],
  approvalId: number | null,
): CommandResult {
  const hint = approvalId === null ? '' : `\nIt opens no page yet: ${howToApprove(approvalId)}`;
  return {
    json: { ...json, ...(approvalId !== null && { approvalId }) },
    text: `${formatFields(fields)}\n\n${PASS_ON}${hint}`,
  };
}

/** In production the link is valid only after a second operator approved it: who has it becomes the user. */
function addReset(users: LunasCommand): void {
  users
    .command('reset <user-id>')
    .description('print a link by which a user who cannot sign in sets a new password; it is good for an hour')
    .writeAction(z.object({ userId: id }), async ({ userId }, audit, context, environment) => {
      const isApproved = environment !== 'production';
      const request = { userId, createdBy: actorText(audit.actor), merchantId: null, isApproved };
      const {
        id: linkId,
        token,
        expiresAt,
      } = await audit.record(RESET_USER, userId, () => createResetLink(audit.db, request, new Date()));
      const approval = { action: 'user.reset', target: userId, parameters: { linkId } } as const;
      const approvalId = isApproved ? null : await requestApproval(audit, audit.actor, approval, audit.note);
      const link = `${await dashboardUrl(context)}/reset/${token}`;
      const reset = { userId, expiresAt: isApproved ? expiresAt : null, link };
      const fields = { Link: link, User: userId, ...(isApproved && { Expires: expiresAt }) };
      return linkResult({ reset }, fields, approvalId);
    });
}

/** In production a second operator, who speaks to the person too, approves it. */
function addConfirm(users: LunasCommand): void {
  users
    .command('confirm <user-id>')
    .description('after a call: only this person has the login whose link another one passed on')
    .writeAction(z.object({ userId: id }), async ({ userId }, audit) => {
      const { email, linkShownTo, credentialsSince } = await findUnconfirmedUser(audit.db, userId);
      const parameters = { credentialsSince: credentialsSince.toISOString() };
      await requireApproval(audit, audit.actor, { action: 'user.confirm', target: userId, parameters }, audit.note);
      await audit.record(CONFIRM_USER, userId, () => confirmUser(audit.db, { userId, credentialsSince }));
      const text = `${email} counts as another person than ${linkShownTo}, who had seen the link.`;
      return { json: { userId, linkShownTo }, text };
    });
}
