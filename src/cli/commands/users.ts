import { z } from 'zod';
import { dashboardUrlOf } from '../../config';
import { listInvitationsOf } from '../../db/identity/invitations';
import { MEMBER_ROLES } from '../../domain/member-roles';
import { confirmUser } from '../../services/identity/confirm-user';
import { disableUser } from '../../services/identity/disable-user';
import { inviteUser } from '../../services/identity/invite-user';
import { linkUser } from '../../services/identity/link-user';
import { listMembers } from '../../services/identity/members';
import { MAX_EMAIL_CHARACTERS, newLink } from '../../services/identity/new-link';
import { resetUser } from '../../services/identity/reset-user';
import type { Reasons, Result } from '../../services/operations/rejections';
import { requireDone } from '../../services/operations/require-done';
import { DEMO_OWNER_EMAIL } from '../../services/sandbox/seed-demo';
import type { CommandContext } from '../command-context';
import { howToApprove } from '../error-hints';
import type { LunasCommand } from '../lunas-command';
import { id, oneOf } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const email = z
  .email({ error: 'must be an e-mail address' })
  .max(MAX_EMAIL_CHARACTERS, `must have at most ${MAX_EMAIL_CHARACTERS} characters`);

const PASS_ON = 'The link is not shown again, and works once.';

/** `DASHBOARD_URL`, else the address of the running local stack. */
async function dashboardUrl(context: CommandContext): Promise<string> {
  const runFile = context.config.DASHBOARD_URL === undefined ? await context.runFile() : null;
  return runFile?.dashboard_url ?? dashboardUrlOf(context.config);
}

export function defineUsers(users: LunasCommand): void {
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
      requireDone(await runOperation(audit, disableUser, audit, { path: { user: userId }, input: {} }));
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
      async ({ merchant, email: address, role }, audit, context) => {
        const email = address.toLowerCase();
        const { token, id, input } = linkToPassOn();
        const call = { path: { merchant, email }, input: { ...input, role } };
        const { expiresAt, approvalId } = validityOf(await runOperation(audit, inviteUser, audit, call));
        const link = `${await dashboardUrl(context)}/invitations/${token}`;
        const invitation = { id, email, role, expiresAt, link };
        const fields = { Link: link, 'E-mail': email, Role: role, ...(expiresAt && { Expires: expiresAt }) };
        return linkResult({ invitation }, fields, approvalId);
      },
    );
}

/** Only the command has the token: the operation and its request have the hash. */
function linkToPassOn() {
  const { id, token, tokenSha256 } = newLink();
  return { token, id, input: { linkId: id, tokenSha256: tokenSha256.toString('hex') } };
}

/** Until when a link is valid, or the request that it waits for. */
function validityOf<R extends Reasons>(result: Result<Date, R>) {
  return result.outcome === 'waits'
    ? { expiresAt: null, approvalId: result.approvalId }
    : { expiresAt: requireDone(result), approvalId: null };
}

function addLink(users: LunasCommand): void {
  users
    .command('link')
    .description('print a link that signs a user of a sandbox in, once and without a password')
    .option('--email <address>', 'the user', DEMO_OWNER_EMAIL)
    .writeAction(z.object({ email }), async ({ email }, audit, context) => {
      const token = requireDone(await runOperation(audit, linkUser, audit, { path: {}, input: { email } }));
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
    .writeAction(z.object({ userId: id }), async ({ userId }, audit, context) => {
      const { token, input } = linkToPassOn();
      const call = { path: { user: userId }, input };
      const { expiresAt, approvalId } = validityOf(await runOperation(audit, resetUser, audit, call));
      const link = `${await dashboardUrl(context)}/reset/${token}`;
      const reset = { userId, expiresAt, link };
      const fields = { Link: link, User: userId, ...(expiresAt && { Expires: expiresAt }) };
      return linkResult({ reset }, fields, approvalId);
    });
}

/** In production a second operator, who speaks to the person too, approves it. */
function addConfirm(users: LunasCommand): void {
  users
    .command('confirm <user-id>')
    .description('after a call: only this person has the login that another one invited or reset')
    .writeAction(z.object({ userId: id }), async ({ userId }, audit) => {
      const call = { path: { user: userId }, input: {} };
      const { email, linksShownTo } = requireDone(await runOperation(audit, confirmUser, audit, call));
      const text = `${email} counts as another person than who had seen its links: ${linksShownTo.join(', ')}.`;
      return { json: { userId, linksShownTo }, text };
    });
}
