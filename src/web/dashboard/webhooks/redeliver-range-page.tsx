import type { ReactElement } from 'react';
import { ConfirmForm } from '../../ui/form';
import { Card, Facts, PageHead } from '../../ui/layout';
import { renderDeveloperPage } from '../developer-page';
import type { MerchantView } from '../merchant-view';
import { DELIVERY_TEXTS } from './delivery-texts';

interface RedeliverRangePage {
  readonly view: MerchantView;
  readonly from: string;
  readonly to: string;
  /** The count as text: it may be more than what was counted. */
  readonly count: string;
  readonly rejection: string | null;
}

export function renderRedeliverRangePage(page: RedeliverRangePage): string {
  const { title } = DELIVERY_TEXTS[page.view.locale.language].range;
  return renderDeveloperPage(page.view, { title, section: 'deliveries', live: 'none', children: <Range {...page} /> });
}

function Range({ view, from, to, count, rejection }: RedeliverRangePage): ReactElement {
  const { range, title, filter } = DELIVERY_TEXTS[view.locale.language];
  return (
    <div className="narrow">
      <PageHead title={range.title} back={{ href: view.paths.deliveries, label: title }} />
      <div className="stack">
        <Card>
          <Facts
            facts={[
              { name: filter.from, value: from },
              { name: filter.to, value: to },
              { name: range.count, value: count },
            ]}
          />
        </Card>
        <p className="text">{range.text}</p>
        <ConfirmForm
          action={view.paths.redeliverRange({})}
          label={range.button}
          tone="primary"
          fields={{ from, to }}
          rejection={rejection}
        />
      </div>
    </div>
  );
}
