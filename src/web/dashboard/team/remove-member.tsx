import type { ReactElement } from 'react';
import { z } from 'zod';
import { removeMember } from '../../../services/identity/remove-member';
import type { ApiKey } from '../../../services/merchants/keys/api-key';
import { Choices } from '../../ui/choices';
import { ConfirmPage } from '../../ui/confirm-page';
import { Card } from '../../ui/layout';
import { memberFormPages, type FormPage } from '../form-pages';
import { keyPath } from '../keys/key-paths';
import { renderMerchantPage } from '../merchant-page';
import { memberFacts, type ChangedMember } from './member-facts';
import { memberPath, removePath, teamPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

type Removal = FormPage<ChangedMember & { readonly userId: string; readonly keys: readonly ApiKey[] }>;

/** A checkbox: absent if it is not checked. */
const fields = z
  .object({ revoke_keys: z.literal('on').optional() })
  .transform(({ revoke_keys: checked }) => ({ revokesKeys: checked === 'on' }));

/** The question before a member is removed, and whether their keys end too. */
export const removeMemberPages = memberFormPages({
  at: removePath,
  operation: removeMember,
  path: ({ user }) => ({ user }),
  fields: () => fields,
  errors: ({ locale }) => TEAM_TEXTS[locale.language].invite.errors,
  rejections: ({ locale }) => ({ last_owner: () => TEAM_TEXTS[locale.language].role.lastOwner }),
  done: ({ isSelf }, { view }) => (isSelf ? '/' : teamPath.to(view, { done: 'removed' })),
  render(page) {
    const { title } = TEAM_TEXTS[page.view.locale.language].remove;
    const children = <RemoveMember {...page} />;
    return renderMerchantPage(page.view, { title, current: 'team', live: 'none', children });
  },
});

function RemoveMember(page: Removal): ReactElement {
  const { view, subject, rejection } = page;
  const path = { code: view.code, user: subject.userId };
  const { remove, back } = TEAM_TEXTS[view.locale.language];
  const hasKeys = subject.keys.length > 0;
  return (
    <ConfirmPage
      title={remove.title}
      back={{ href: memberPath.to(path), label: subject.name }}
      facts={memberFacts(view, subject)}
      explanation={remove.explanation}
      action={removePath.to(path)}
      button={remove.button}
      cancel={back}
      tone="danger"
      fields={hasKeys ? {} : { revoke_keys: 'on' }}
      rejection={rejection}
      question={hasKeys && <KeysOfMember {...page} />}
    />
  );
}

function KeysOfMember({ view, subject, sent }: Removal): ReactElement {
  const isChosen = sent === null || sent.revoke_keys === 'on';
  const { remove } = TEAM_TEXTS[view.locale.language];
  return (
    <Card title={remove.keys}>
      <div className="card-body">
        <ul className="plain-list">
          {subject.keys.map((key) => (
            <li key={key.id}>
              <a href={keyPath.to({ code: view.code, key: key.id })}>{key.name ?? remove.unnamed}</a>{' '}
              <code>{key.masked}</code>
            </li>
          ))}
        </ul>
        <Choices
          name="keys"
          kind="checkbox"
          label={remove.keysQuestion}
          choices={[{ name: 'revoke_keys', label: remove.revokeKeys, isChosen }]}
          hint={remove.keysHint}
        />
      </div>
    </Card>
  );
}
