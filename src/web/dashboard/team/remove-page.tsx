import type { ReactElement } from 'react';
import { Choices } from '../../ui/choices';
import { Card, Notice, PageHead } from '../../ui/layout';
import { keyPath } from '../keys/key-paths';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { TEAM_TEXTS } from './team-texts';

interface KeyOfMember {
  readonly id: string;
  readonly name: string | null;
  readonly masked: string;
}

interface RemovePage {
  readonly view: MerchantView;
  readonly userId: string;
  readonly name: string;
  /** The keys in use that the member created. */
  readonly keys: readonly KeyOfMember[];
  readonly revokesKeys: boolean;
  /** Why it is not possible; null if it is. */
  readonly rejection: string | null;
}

/** The question before a member is removed, and whether their keys end too. */
export function renderRemovePage(page: RemovePage): string {
  const { title } = TEAM_TEXTS[page.view.locale.language].remove;
  return renderMerchantPage(page.view, { title, current: 'team', live: 'none', children: <RemoveMember {...page} /> });
}

function RemoveMember({ view, userId, name, keys, revokesKeys, rejection }: RemovePage): ReactElement {
  const { remove, back } = TEAM_TEXTS[view.locale.language];
  return (
    <div className="narrow">
      <PageHead title={remove.title} back={{ href: view.paths.member(userId), label: name }} />
      <div className="stack">
        {rejection !== null && (
          <Notice tone="warning">
            <p>{rejection}</p>
          </Notice>
        )}
        <p className="text">{remove.explanation}</p>
        <form className="stack" method="post" action={view.paths.removeMember(userId)}>
          {keys.length === 0 ? (
            <input type="hidden" name="revoke_keys" value="on" />
          ) : (
            <KeysOfMember view={view} keys={keys} revokesKeys={revokesKeys} />
          )}
          <div className="buttons">
            <button className="button wide-button danger" disabled={rejection !== null}>
              {remove.button}
            </button>
            <a className="button wide-button" href={view.paths.member(userId)}>
              {back}
            </a>
          </div>
        </form>
      </div>
    </div>
  );
}

function KeysOfMember({ view, keys, revokesKeys }: Pick<RemovePage, 'view' | 'keys' | 'revokesKeys'>): ReactElement {
  const { remove } = TEAM_TEXTS[view.locale.language];
  return (
    <Card title={remove.keys}>
      <div className="card-body">
        <ul className="plain-list">
          {keys.map((key) => (
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
          choices={[{ name: 'revoke_keys', label: remove.revokeKeys, isChosen: revokesKeys }]}
          hint={remove.keysHint}
        />
      </div>
    </Card>
  );
}
