import type { ReactElement } from 'react';
import { onMember } from '../../../services/identity/on-member';
import { orNoPage } from '../../page/page-error';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import { Card, Facts, PageHead } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { RoleChoices } from './role-choices';
import { RoleRights } from './role-rights';
import type { ShownMember } from './team-page';
import { memberPath, removePath, resetPath, rolePath, teamPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

interface MemberPage {
  readonly view: MerchantView;
  readonly shown: ShownMember & { readonly inviterName: string | null };
}

export const showMemberPage = memberPage(
  { area: 'team', level: 'view' },
  {
    method: 'get',
    path: memberPath.pattern,
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit) {
      const path = memberPath.read(visit.request.params);
      const found = await onMember.load(dependencies, visit.member, path).catch(orNoPage);
      const view = merchantView(dependencies, visit);
      const shown = { ...found, isSelf: path.user === visit.session.user.id };
      const children = <MemberDetails view={view} shown={shown} />;
      return pageResponse(renderMerchantPage(view, { title: found.name, current: 'team', live: 'none', children }));
    },
  },
);

function MemberDetails({ view, shown }: MemberPage): ReactElement {
  const texts = TEAM_TEXTS[view.locale.language];
  const { member, columns } = texts;
  const mayManage = view.rightRejection('team', 'manage') === null;
  return (
    <div className="narrow">
      <PageHead title={shown.name} back={{ href: teamPath.to(view), label: texts.title }} />
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
        {mayManage ? (
          <Access view={view} shown={shown} />
        ) : (
          <Card title={member.rights}>
            <div className="card-body">
              <RoleRights view={view} role={shown.role} />
            </div>
          </Card>
        )}
      </div>
    </div>
  );
}

function Access({ view, shown }: MemberPage): ReactElement {
  const { locale, code } = view;
  const path = { code, user: shown.userId };
  const { member } = TEAM_TEXTS[locale.language];
  return (
    <Card title={member.manage}>
      <div className="card-body stack">
        <form method="get" action={rolePath.to(path)} className="stack">
          <RoleChoices view={view} chosen={shown.role} />
          <div className="buttons">
            <button className="button wide-button">{member.choose}</button>
          </div>
        </form>
        <div className="buttons">
          {shown.isSelf ? (
            <p className="hint">{member.own}</p>
          ) : (
            <a className="button wide-button" href={resetPath.to(path)}>
              {member.reset}
            </a>
          )}
          <a className="button danger wide-button" href={removePath.to(path)}>
            {member.remove}
          </a>
        </div>
      </div>
    </Card>
  );
}
