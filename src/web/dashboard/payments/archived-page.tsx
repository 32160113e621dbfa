import type { ReactElement } from 'react';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { Id, Time } from '../../ui/values';
import { balancePath } from '../balance/balance-paths';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { paymentsPath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

interface ArchivedPage {
  readonly view: MerchantView;
  readonly referenceId: string;
  readonly archivedAt: Date;
  /** When it was created: `YYYY-MM-DD`, UTC. */
  readonly day: string;
}

/** What stays of a payment in the archive. */
export function renderArchivedPage(page: ArchivedPage): string {
  return renderMerchantPage(page.view, {
    title: page.view.texts.detail.title(page.referenceId),
    current: 'payments',
    live: 'none',
    children: <Archived {...page} />,
  });
}

function Archived({ view, referenceId, archivedAt, day }: ArchivedPage): ReactElement {
  const { texts, locale } = view;
  const { detail } = texts;
  const { archived } = PAYMENT_TEXTS[locale.language];
  const facts = [
    { name: detail.reference, value: <Id value={referenceId} copy={texts.copy} /> },
    { name: archived.createdOn, value: <time dateTime={day}>{day}</time> },
    { name: archived.archivedAt, value: <Time at={archivedAt} style="day" locale={locale} /> },
  ];
  const mayReadBalance = view.rightRejection('balance', 'view') === null;
  return (
    <div className="narrow">
      <PageHead title={detail.title(referenceId)} back={{ href: paymentsPath.to(view), label: detail.back }} />
      <div className="stack">
        <Notice tone="info">
          <p>{archived.text}</p>
          {mayReadBalance && (
            <p>
              <a href={balancePath.to(view)}>{archived.statements}</a>
            </p>
          )}
        </Notice>
        <Card title={detail.facts}>
          <Facts facts={facts} />
        </Card>
      </div>
    </div>
  );
}
