import { findDetails } from '../../../db/payments/payment-details';
import { openDetails } from '../../../services/payments/payment-details';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findOwnPayment } from './find-own-payment';
import { fromField } from './from-counter';
import { slipPath } from './payment-paths';
import { renderSlipPage } from './slip-page';

/** A payment on narrow paper. */
export const showSlip = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: slipPath.pattern,
    fields: fromField,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>, visit, query) {
      const payment = await findOwnPayment(dependencies, visit);
      const sealed = await findDetails(dependencies.db, payment.id);
      const { description } = openDetails(dependencies.sealer, payment.id, sealed);
      const view = merchantView(dependencies, visit);
      const isAtCounter = query.ok && query.values.from === 'counter';
      return pageResponse(renderSlipPage({ view, payment, description, isAtCounter }));
    },
  },
);
