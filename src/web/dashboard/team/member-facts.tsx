import type { MemberRole } from '../../../domain/member-roles';
import type { Fact } from '../../ui/layout';
import { Time } from '../../ui/values';
import type { MerchantView } from '../merchant-view';
import { TEAM_TEXTS } from './team-texts';

/** A member whose access changes. */
export interface ChangedMember {
  readonly name: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly memberSince: Date;
}

/** Whom a question before a change of access concerns. */
export function memberFacts(view: MerchantView, { name, email, role, memberSince }: ChangedMember): Fact[] {
  const { columns, member } = TEAM_TEXTS[view.locale.language];
  return [
    { name: columns.name, value: <span className="strong">{name}</span> },
    { name: member.email, value: email },
    { name: columns.role, value: view.texts.roles[role] },
    { name: member.since, value: <Time at={memberSince} style="day" locale={view.locale} /> },
  ];
}
