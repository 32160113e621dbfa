import { withUserAudit } from '../../../services/audit/user-audit';
import { readCustomer } from '../../../services/payments/customers';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { userIdentity } from '../user-identity';
import { renderCustomerPage } from './customer-page';
import { findOwnPayment } from './find-own-payment';

/** Personal data, opened from the sealed row. Each reading is recorded before it. */
export const showCustomerPage = memberPage(
  { area: 'customers', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/payments/:ref/customer',
    stepUp: true,
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer'>, visit) {
      const view = merchantView(dependencies, visit);
      const { id, referenceId } = await findOwnPayment(dependencies, visit);
      const { db, sealer } = dependencies;
      const action = { action: 'customer.read', target: id } as const;
      const { customer, metadata } = await withUserAudit(db, userIdentity(dependencies, visit), action, () =>
        readCustomer(db, sealer, id),
      );
      return pageResponse(
        renderCustomerPage({ view, referenceId, customer: textsOf(customer), metadata: textsOf(metadata) }),
      );
    },
  },
);

function textsOf(fields: ReadonlyMap<string, unknown> | null): [name: string, value: string][] {
  return Array.from(fields ?? [], ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
}
