import type { ReactElement } from 'react';
import type { MemberRole } from '../../../domain/member-roles';
import { StateChip } from '../../ui/chip';
import { initialsOf } from '../../ui/initials';
import { Card, DoneNotice, PageHead } from '../../ui/layout';
import { Pager, Table, type Column } from '../../ui/table';
import { Time } from '../../ui/values';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { invitePath, memberPath, withdrawPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

export interface ShownMember {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly hasSecondFactor: boolean;
  readonly memberSince: Date;
  /** Null: never. */
  readonly lastSeenAt: Date | null;
  readonly disabledAt: Date | null;
  /** The user who sees the page. */
  readonly isSelf: boolean;
}

export interface ShownInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRole;
  /** Null: Lunas. */
  readonly inviterName: string | null;
  readonly expiresAt: Date;
}

export type TeamDone = 'role' | 'removed' | 'withdrawn';

interface TeamPage {
  readonly view: MerchantView;
  readonly members: readonly ShownMember[];
  readonly invitations: readonly ShownInvitation[];
  /** Where the neighbouring pages are; null if there is none. */
  readonly first: string | null;
  readonly next: string | null;
  readonly done: TeamDone | undefined;
}

export function renderTeamPage(page: TeamPage): string {
  const { title } = TEAM_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, { title, current: 'team', live: 'none', children: <Team {...page} /> });
}

function Team({ view, members, invitations, first, next, done }: TeamPage): ReactElement {
  const texts = TEAM_TEXTS[view.locale.language];
  const mayManage = view.rightRejection('team', 'manage') === null;
  return (
    <>
      <PageHead title={texts.title}>
        {mayManage && (
          <a className="button primary" href={invitePath.to(view)}>
            {texts.invite.button}
          </a>
        )}
      </PageHead>
      <div className="stack">
        <DoneNotice text={done && texts.done[done]} />
        <Card>
          <Table
            caption={texts.caption}
            columns={memberColumns(view)}
            rows={members}
            keyOf={({ userId }) => userId}
            empty={null}
          />
          <Pager newer={first} older={next} texts={texts.pager} />
        </Card>
        {invitations.length > 0 && (
          <Card title={texts.invitations.title}>
            <Table
              caption={texts.invitations.caption}
              columns={invitationColumns(view, mayManage)}
              rows={invitations}
              keyOf={({ id }) => id}
              empty={null}
            />
          </Card>
        )}
      </div>
    </>
  );
}

function memberColumns(view: MerchantView): Column<ShownMember>[] {
  const { locale, code } = view;
  const texts = TEAM_TEXTS[locale.language];
  const { columns } = texts;
  return [
    {
      title: columns.name,
      narrow: 'first',
      className: 'strong',
      cell: ({ userId, name, isSelf, email }) => (
        <span className="with-avatar">
          <span className="avatar" aria-hidden="true">
            {initialsOf(name)}
          </span>
          <span className="clipped">
            <a className="row-link" href={memberPath.to({ code, user: userId })}>
              {name}
            </a>
            {isSelf && <span className="dim"> ({texts.you})</span>}
            <span className="dim small under">{email}</span>
          </span>
        </span>
      ),
    },
    { title: columns.role, narrow: 'first-end', cell: ({ role }) => view.texts.roles[role] },
    {
      title: columns.factor,
      narrow: 'second',
      cell: ({ hasSecondFactor, disabledAt }) =>
        disabledAt ? (
          <StateChip tone="bad" label={texts.disabled} />
        ) : (
          <StateChip
            tone={hasSecondFactor ? 'good' : 'warning'}
            label={hasSecondFactor ? texts.hasFactor : texts.noFactor}
          />
        ),
    },
    {
      title: columns.seen,
      narrow: 'second-end',
      cell: ({ lastSeenAt }) =>
        lastSeenAt ? (
          <Time at={lastSeenAt} style="short" locale={locale} />
        ) : (
          <span className="dim">{texts.never}</span>
        ),
    },
  ];
}

function invitationColumns(view: MerchantView, mayManage: boolean): Column<ShownInvitation>[] {
  const { locale, code } = view;
  const { invitations, lunas } = TEAM_TEXTS[locale.language];
  const { columns } = invitations;
  const actions: Column<ShownInvitation> = {
    title: columns.action,
    narrow: 'second-end',
    cell: ({ id, email, role }) => (
      <span className="row-actions">
        <a href={invitePath.to({ code }, { email, role })} aria-label={`${invitations.resend}: ${email}`}>
          {invitations.resend}
        </a>
        <a href={withdrawPath.to({ code, invitation: id })} aria-label={`${invitations.withdraw}: ${email}`}>
          {invitations.withdraw}
        </a>
      </span>
    ),
  };
  return [
    { title: columns.email, narrow: 'first', className: 'strong clipped', cell: ({ email }) => email },
    { title: columns.role, narrow: 'first-end', cell: ({ role }) => view.texts.roles[role] },
    { title: columns.by, narrow: 'hidden', cell: ({ inviterName }) => inviterName ?? lunas },
    {
      title: columns.until,
      narrow: 'second',
      cell: ({ expiresAt }) => <Time at={expiresAt} style="short" locale={locale} />,
    },
    ...(mayManage ? [actions] : []),
  ];
}
