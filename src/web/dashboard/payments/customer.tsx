import { randomUUID } from 'node:crypto';
import type { ReactElement } from 'react';
import { requireDone } from '../../../services/operations/require-done';
import { showOwnCustomer } from '../../../services/payments/show-customer';
import { orNoPage } from '../../page/page-error';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import { Card, Facts, PageHead } from '../../ui/layout';
import { EmptyState } from '../../ui/table';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { renderMerchantPage } from '../merchant-page';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { customerPath, paymentPagePath } from './payment-paths';
import { PAYMENT_TEXTS } from './payment-texts';

/** Personal data, opened from the sealed row. Each reading is recorded before it. */
export const showCustomerPage = memberPage(
  { area: 'customers', level: 'view' },
  {
    method: 'get',
    path: customerPath.pattern,
    stepUp: true,
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer'>, visit) {
      const view = merchantView(dependencies, visit);
      const { ref: payment } = customerPath.read(visit.request.params);
      const call = { path: { payment }, input: {}, formId: randomUUID() };
      const result = await showOwnCustomer.run(dependencies, memberActor(visit), call).catch(orNoPage);
      const { referenceId, customer, metadata } = requireDone(result);
      const texts = { customer: textsOf(customer), metadata: textsOf(metadata) };
      return pageResponse(renderCustomerPage({ view, referenceId, ...texts }));
    },
  },
);

function textsOf(fields: ReadonlyMap<string, unknown> | null): [name: string, value: string][] {
  return Array.from(fields ?? [], ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}

type NamedTexts = readonly (readonly [name: string, value: string])[];

interface CustomerPage {
  readonly view: MerchantView;
  readonly referenceId: string;
  readonly customer: NamedTexts;
  readonly metadata: NamedTexts;
}

function renderCustomerPage(page: CustomerPage): string {
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
  const names = new Map([
    ['name', texts.name],
    ['email', texts.email],
    ['phone', texts.phone],
  ]);
  return (
    <div className="narrow">
      <PageHead title={texts.title} back={back} />
      <div className="stack">
        <p className="dim">{texts.recorded}</p>
        {customer.length + metadata.length === 0 && (
          <Card>
            <EmptyState icon="payments" text={texts.none} />
          </Card>
        )}
        {customer.length > 0 && (
          <Card>
            <Facts
              facts={customer.map(([name, value]) => ({ name: names.get(name) ?? name, value: <bdi>{value}</bdi> }))}
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
