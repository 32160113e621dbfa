import type { ReactElement } from 'react';
import { MEMBER_ROLES } from '../../../domain/member-roles';
import { Choices } from '../../ui/choices';
import { Card, Facts, PageHead } from '../../ui/layout';
import { Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import type { FoundMember } from './find-team';
import { RoleRights } from './role-rights';
import { TEAM_TEXTS } from './team-texts';

interface MemberPage {
  readonly view: MerchantView;
  readonly shown: FoundMember;
}

export function renderMemberPage(page: MemberPage): string {
  return renderMerchantPage(page.view, {
    title: page.shown.name,
    current: 'team',
    live: 'none',
    children: <MemberDetails {...page} />,
  });
}

function MemberDetails({ view, shown }: MemberPage): ReactElement {
  const texts = TEAM_TEXTS[view.locale.language];
  const { member, columns } = texts;
  const mayManage = view.rightRejection('team', 'manage') === null;
  return (
    <div className="narrow">
      <PageHead title={shown.name} back={{ href: view.paths.team, label: texts.title }} />
      <div className="stack">
        <Card title={member.facts}>
          <Facts
            facts={[
              { name: member.email, value: shown.email },
              { name: columns.role, value: view.texts.roles[shown.role] },
              { name: columns.factor, value: shown.hasSecondFactor ? texts.hasFactor : texts.noFactor },
              { name: member.since, value: <Time at={shown.memberSince} style="day" locale={view.locale} /> },
              { name: member.invitedBy, value: shown.inviterName ?? texts.lunas },
              {
                name: columns.seen,
                value: shown.lastSeenAt ? (
                  <Time at={shown.lastSeenAt} style="short" locale={view.locale} />
                ) : (
                  texts.never
                ),
              },
            ]}
          />
        </Card>
        <Card title={member.rights}>
          <div className="card-body">
            <RoleRights view={view} role={shown.role} />
          </div>
        </Card>
        {mayManage && <Access view={view} shown={shown} />}
      </div>
    </div>
  );
}

function Access({ view: { locale, paths, texts: shared }, shown }: MemberPage): ReactElement {
  const { member, columns } = TEAM_TEXTS[locale.language];
  const choices = MEMBER_ROLES.map((role) => ({
    name: role,
    label: shared.roles[role],
    isChosen: role === shown.role,
  }));
  return (
    <Card title={member.manage}>
      <div className="card-body stack">
        <form method="get" action={paths.memberRole(shown.userId)} className="stack">
          <Choices name="role" kind="radio" label={columns.role} choices={choices} />
          <div className="buttons">
            <button className="button wide-button">{member.choose}</button>
          </div>
        </form>
        <div className="buttons">
          {shown.isSelf ? (
            <p className="hint">{member.own}</p>
          ) : (
            <a className="button wide-button" href={paths.resetMember(shown.userId)}>
              {member.reset}
            </a>
          )}
          <a className="button danger wide-button" href={paths.removeMember(shown.userId)}>
            {member.remove}
          </a>
        </div>
      </div>
    </Card>
  );
}
