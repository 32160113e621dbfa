import { randomUUID } from 'node:crypto';
import { requireDone } from '../../../services/operations/require-done';
import { showOwnCustomer } from '../../../services/payments/show-customer';
import { orNoPage } from '../../page/page-error';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { memberActor } from '../user-identity';
import { renderCustomerPage } from './customer-page';
import { customerPath } from './payment-paths';

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
