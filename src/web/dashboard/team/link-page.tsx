import type { ReactElement } from 'react';
import { CopiedText } from '../../ui/copied-text';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { Time } from '../../ui/values';
import { SHARE_SCRIPTS } from '../files';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { teamPath } from './team-paths';
import { TEAM_TEXTS } from './team-texts';

interface LinkPage {
  readonly view: MerchantView;
  readonly kind: 'invitation' | 'reset';
  /** The e-mail of the invitation, or the name of the member. */
  readonly subject: string;
  readonly url: string;
  readonly expiresAt: Date;
}

/** The only page with the link: nothing reads it again. */
export function renderLinkPage(page: LinkPage): string {
  const { link } = TEAM_TEXTS[page.view.locale.language];
  return renderMerchantPage(page.view, {
    title: page.kind === 'invitation' ? link.title : link.resetTitle,
    current: 'team',
    live: 'none',
    scripts: SHARE_SCRIPTS,
    children: <NewLink {...page} />,
  });
}

function NewLink({ view, kind, subject, url, expiresAt }: LinkPage): ReactElement {
  const { link } = TEAM_TEXTS[view.locale.language];
  const isInvitation = kind === 'invitation';
  return (
    <div className="narrow">
      <PageHead title={isInvitation ? link.title : link.resetTitle} />
      <div className="stack">
        <Notice tone="warning">
          <b>{link.once}</b>
          <p>{isInvitation ? link.invitation(subject) : link.reset(subject)}</p>
        </Notice>
        <Card title={link.name}>
          <div className="card-body">
            <CopiedText name={link.name} value={url} copy={view.texts.copy} isMain>
              <button type="button" className="button wide-button" data-share={url} hidden>
                {link.share}
              </button>
            </CopiedText>
          </div>
          <Facts facts={[{ name: link.until, value: <Time at={expiresAt} style="short" locale={view.locale} /> }]} />
        </Card>
        <div className="buttons">
          <a className="button wide-button" href={teamPath.to(view)}>
            {link.ready}
          </a>
        </div>
      </div>
    </div>
  );
}
