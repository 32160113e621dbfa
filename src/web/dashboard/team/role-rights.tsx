import { Fragment, type ReactElement } from 'react';
import {
  accessLevel,
  MEMBER_AREAS,
  type AccessLevel,
  type MemberArea,
  type MemberRole,
} from '../../../domain/member-roles';
import { Card } from '../../ui/layout';
import { Table } from '../../ui/table';
import type { MerchantView } from '../merchant-view';
import { TEAM_TEXTS, type TeamTexts } from './team-texts';

/** What a level means in an area, in words. */
function levelText({ levels }: TeamTexts, area: MemberArea, level: AccessLevel): string {
  if (area === 'payments' && level === 'manage') return levels.createPayments;
  if (area === 'payments' && level === 'authorise') return levels.refundPayments;
  if (area === 'payouts' && level === 'manage') return levels.requestPayouts;
  if (area === 'payouts' && level === 'authorise') return levels.approvePayouts;
  return levels[level];
}

/** Everything that a role may do, an area a line. */
export function RoleRights({ view, role }: { readonly view: MerchantView; readonly role: MemberRole }): ReactElement {
  const texts = TEAM_TEXTS[view.locale.language];
  const areas = MEMBER_AREAS.filter((area) => accessLevel(role, area) !== 'none');
  return (
    <dl className="rights">
      {areas.map((area) => (
        <Fragment key={area}>
          <dt>{texts.areas[area]}</dt>
          <dd>{levelText(texts, area, accessLevel(role, area))}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

interface RoleChange {
  readonly view: MerchantView;
  readonly from: MemberRole;
  readonly to: MemberRole;
}

/** The areas in which another role has other rights. */
export function RoleChangeTable({ view, from, to }: RoleChange): ReactElement {
  const texts = TEAM_TEXTS[view.locale.language];
  const { columns, caption, same } = texts.role;
  const right = (role: MemberRole) => (area: MemberArea) => levelText(texts, area, accessLevel(role, area));
  return (
    <Card title={caption}>
      <Table
        caption={caption}
        columns={[
          { title: columns.area, narrow: 'first', className: 'strong', cell: (area) => texts.areas[area] },
          { title: columns.now, narrow: 'second', cell: right(from) },
          { title: columns.after, narrow: 'second-end', cell: right(to) },
        ]}
        rows={MEMBER_AREAS.filter((area) => accessLevel(from, area) !== accessLevel(to, area))}
        keyOf={(area) => area}
        empty={<p className="card-body">{same}</p>}
      />
    </Card>
  );
}
