import type { ReactElement } from 'react';
import { z } from 'zod';
import { removeMember } from '../../../services/identity/remove-member';
import type { ApiKey } from '../../../services/merchants/keys/api-key';
import { Choices } from '../../ui/choices';
import { Card, Notice, PageHead } from '../../ui/layout';
import { memberFormPages, type FormPage } from '../form-pages';
import { keyPath } from '../keys/key-paths';
import { renderMerchantPage } from '../merchant-page';
import { memberPath, removePath, teamPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

type Removal = FormPage<{ readonly userId: string; readonly name: string; readonly keys: readonly ApiKey[] }>;

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
  return (
    <div className="narrow">
      <PageHead title={remove.title} back={{ href: memberPath.to(path), label: subject.name }} />
      <div className="stack">
        {rejection !== null && (
          <Notice tone="warning">
            <p>{rejection}</p>
          </Notice>
        )}
        <p className="text">{remove.explanation}</p>
        <form className="stack" method="post" action={removePath.to(path)}>
          {subject.keys.length === 0 ? (
            <input type="hidden" name="revoke_keys" value="on" />
          ) : (
            <KeysOfMember {...page} />
          )}
          <div className="buttons">
            <button className="button wide-button danger" disabled={rejection !== null}>
              {remove.button}
            </button>
            <a className="button wide-button" href={memberPath.to(path)}>
              {back}
            </a>
          </div>
        </form>
      </div>
    </div>
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
