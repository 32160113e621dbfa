import type { ReactElement } from 'react';
import { MEMBER_ROLES } from '../../../domain/member-roles';
import type { FieldErrors, SentFields } from '../../page/read-form';
import { Choices } from '../../ui/choices';
import { ErrorSummary, Field } from '../../ui/form';
import { Card, PageHead } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { RoleTable } from './role-rights';
import { TEAM_TEXTS } from './team-texts';

interface InvitePage {
  readonly view: MerchantView;
  readonly sent: SentFields;
  /** Texts. */
  readonly errors: FieldErrors;
}

export function renderInvitePage(page: InvitePage): string {
  const { title } = TEAM_TEXTS[page.view.locale.language].invite;
  return renderMerchantPage(page.view, { title, current: 'team', live: 'none', children: <Invite {...page} /> });
}

function Invite({ view, sent, errors }: InvitePage): ReactElement {
  const texts = TEAM_TEXTS[view.locale.language];
  const { invite } = texts;
  const choices = MEMBER_ROLES.map((role) => ({
    name: role,
    label: view.texts.roles[role],
    isChosen: role === sent.role,
  }));
  return (
    <div className="narrow">
      <PageHead title={invite.title} back={{ href: view.paths.team, label: texts.title }} />
      <div className="stack">
        <ErrorSummary title={invite.errorTitle} errors={errors} />
        <Card>
          <form className="card-body stack" method="post" action={view.paths.invite()}>
            <Field
              name="email"
              type="email"
              label={invite.email}
              value={sent.email ?? ''}
              error={errors.email}
              autoComplete="off"
              maxLength={254}
              required
            />
            <Choices name="role" kind="radio" label={invite.role} choices={choices} error={errors.role} />
            <div className="buttons">
              <button className="button primary wide-button">{invite.create}</button>
              <a className="button wide-button" href={view.paths.team}>
                {texts.back}
              </a>
            </div>
          </form>
        </Card>
        <RoleTable view={view} />
      </div>
    </div>
  );
}
