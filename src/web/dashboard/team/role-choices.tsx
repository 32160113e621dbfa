import type { ReactElement } from 'react';
import { MEMBER_ROLES } from '../../../domain/member-roles';
import { Choices } from '../../ui/choices';
import type { MerchantView } from '../merchant-view';
import { RoleRights } from './role-rights';
import { TEAM_TEXTS } from './team-texts';

interface RoleChoicesProps {
  readonly view: MerchantView;
  readonly chosen: string | undefined;
  readonly required?: boolean;
  readonly error?: string | undefined;
}

/** The roles, each with what it is for. The chosen one has everything that it may do. */
export function RoleChoices({ view, chosen, ...field }: RoleChoicesProps): ReactElement {
  const { columns, purposes } = TEAM_TEXTS[view.locale.language];
  const choices = MEMBER_ROLES.map((role) => ({
    name: role,
    label: view.texts.roles[role],
    note: purposes[role],
    isChosen: role === chosen,
    details: <RoleRights view={view} role={role} />,
  }));
  return <Choices name="role" kind="radio" label={columns.role} choices={choices} {...field} />;
}
