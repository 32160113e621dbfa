import { z } from 'zod';
import { revokeKey } from '../../../services/merchants/keys/revoke-key';
import { ConfirmPage } from '../../ui/confirm-page';
import { renderDeveloperPage } from '../developer-page';
import { memberFormPages } from '../form-pages';
import { LastUse } from './key-parts';
import { keyPath, revokeKeyPath } from './key-paths';
import { KEY_TEXTS } from './key-texts';

export const revokeKeyPages = memberFormPages({
  at: revokeKeyPath,
  operation: revokeKey,
  path: ({ key }) => ({ key }),
  fields: () => z.object({}),
  errors: ({ locale }) => KEY_TEXTS[locale.language].form.errors,
  rejections: ({ locale }) => ({ key_revoked: () => KEY_TEXTS[locale.language].revoke.revoked }),
  done: ({ id }, { view: { code } }) => keyPath.to({ code, key: id }, { done: 'revoked' }),
  render({ view, subject, rejection }) {
    const { revoke, form, columns, unnamed } = KEY_TEXTS[view.locale.language];
    const path = { code: view.code, key: subject.id };
    const facts = [
      { name: columns.name, value: subject.name ?? unnamed },
      { name: columns.key, value: <code>{subject.masked}</code> },
      { name: columns.lastUsed, value: <LastUse view={view} shown={subject} /> },
    ];
    const children = (
      <ConfirmPage
        {...revoke}
        back={{ href: keyPath.to(path), label: subject.name ?? unnamed }}
        facts={facts}
        action={revokeKeyPath.to(path)}
        cancel={form.cancel}
        tone="danger"
        rejection={rejection}
      />
    );
    return renderDeveloperPage(view, { title: revoke.title, section: 'keys', live: 'none', children });
  },
});
