import type { ReactElement } from 'react';
import { z } from 'zod';
import { MEMBER_ROLES } from '../../../domain/member-roles';
import { inviteMember } from '../../../services/identity/invite-member';
import { MAX_EMAIL_CHARACTERS } from '../../../services/identity/new-link';
import { sentField } from '../../page/sent-field';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, PageHead } from '../../ui/layout';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import { pageResponse } from '../merchant-view';
import { renderLinkPage } from './link-page';
import { RoleChoices } from './role-choices';
import { invitePath, teamPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

const fields = z.object({
  email: z.email({ error: 'email' }).max(MAX_EMAIL_CHARACTERS, { error: 'email' }),
  role: z.enum(MEMBER_ROLES, { error: 'role' }),
});

/**
 * A new link for an open invitation is the same form, filled in. The response has the link. A repeat of the form shows
 * a newer one, and the first one is withdrawn.
 */
export const inviteMemberPages = memberFormPages({
  at: invitePath,
  operation: inviteMember,
  path: ({ merchant }) => ({ merchant }),
  isFilledByQuery: true,
  fields: () => fields,
  errors: ({ locale }) => TEAM_TEXTS[locale.language].invite.errors,
  rejections: ({ locale }) => ({ is_member: () => TEAM_TEXTS[locale.language].invite.errors.member }),
  fieldOf: { is_member: 'email' },
  done({ email: subject, token, expiresAt }, { view, dependencies }) {
    const url = `${dependencies.origin.origin}/invitations/${token}`;
    return pageResponse(renderLinkPage({ view, kind: 'invitation', subject, url, expiresAt }));
  },
  render(page) {
    const { title } = TEAM_TEXTS[page.view.locale.language].invite;
    return renderMerchantPage(page.view, { title, current: 'team', live: 'none', children: <Invite {...page} /> });
  },
});

function Invite(page: FormPage<object>): ReactElement {
  const { view, sent, errors, attributes } = page;
  const texts = TEAM_TEXTS[view.locale.language];
  const { invite } = texts;
  return (
    <div className="narrow">
      <PageHead title={invite.title} back={{ href: teamPath.to(view), label: texts.title }} />
      <div className="stack">
        <ErrorSummary title={invite.errorTitle} errors={errors} />
        <Card>
          <form className="card-body stack" method="post" action={invitePath.to(view)}>
            <Field {...sentField('email', page)} type="email" label={invite.email} autoComplete="off" />
            <RoleChoices view={view} chosen={sent?.role} error={errors.role} {...attributes.role} />
            <div className="buttons">
              <button className="button primary wide-button">{invite.create}</button>
              <a className="button wide-button" href={teamPath.to(view)}>
                {texts.back}
              </a>
            </div>
          </form>
        </Card>
      </div>
    </div>
  );
}
