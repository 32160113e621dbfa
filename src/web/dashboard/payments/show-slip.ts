import { findDetails } from '../../../db/payments/payment-details';
import { openDetails } from '../../../services/payments/payment-details';
import { memberPage, NO_FIELDS } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findOwnPayment } from './find-own-payment';
import { slipPath } from './payment-paths';
import { renderSlipPage } from './slip-page';

/** A payment on narrow paper. */
export const showSlip = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: slipPath.pattern,
    fields: NO_FIELDS,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>, visit) {
      const payment = await findOwnPayment(dependencies, visit);
      const sealed = await findDetails(dependencies.db, payment.id);
      const { description } = openDetails(dependencies.sealer, payment.id, sealed);
      return pageResponse(renderSlipPage({ view: merchantView(dependencies, visit), payment, description }));
    },
  },
);
