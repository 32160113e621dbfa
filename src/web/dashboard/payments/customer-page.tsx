import type { ReactElement } from 'react';
import { Card, Facts, Notice, PageHead } from '../../ui/layout';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { paymentPagePath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

type NamedTexts = readonly (readonly [name: string, value: string])[];

interface CustomerPage {
  readonly view: MerchantView;
  readonly referenceId: string;
  readonly customer: NamedTexts;
  readonly metadata: NamedTexts;
}

export function renderCustomerPage(page: CustomerPage): string {
  return renderMerchantPage(page.view, {
    title: PAYMENT_TEXTS[page.view.locale.language].customer.title,
    current: 'payments',
    live: 'none',
    children: <Customer {...page} />,
  });
}

function Customer({ view, referenceId, customer, metadata }: CustomerPage): ReactElement {
  const texts = PAYMENT_TEXTS[view.locale.language].customer;
  const back = { href: paymentPagePath.to({ ...view, ref: referenceId }), label: referenceId };
  const names: Readonly<Partial<Record<string, string>>> = { name: texts.name, email: texts.email, phone: texts.phone };
  return (
    <div className="narrow">
      <PageHead title={texts.title} back={back} />
      <div className="stack">
        <p className="dim">{texts.recorded}</p>
        {customer.length + metadata.length === 0 && (
          <Notice tone="info">
            <p>{texts.none}</p>
          </Notice>
        )}
        {customer.length > 0 && (
          <Card>
            <Facts
              facts={customer.map(([name, value]) => ({ name: names[name] ?? name, value: <bdi>{value}</bdi> }))}
            />
          </Card>
        )}
        {metadata.length > 0 && (
          <Card title={texts.metadata}>
            <Facts facts={metadata.map(([name, value]) => ({ name, value: <bdi>{value}</bdi> }))} />
          </Card>
        )}
      </div>
    </div>
  );
}
