import { cancelPayout } from '../../../services/payouts/cancel-payout';
import { memberFormPages } from '../form-pages';
import { actRejections } from './action-rejection-texts';
import { confirmProblem, renderConfirmPayout, versionFields } from './confirm-payout';
import { PAYOUT_ACTION_PATHS } from './payout-paths';
import { SCHEDULE_TEXTS } from './schedule-texts';

export const cancelPayoutPages = memberFormPages({
  at: PAYOUT_ACTION_PATHS.cancel,
  operation: cancelPayout,
  path: ({ ref }) => ({ payout: ref }),
  fields: () => versionFields,
  errors: ({ locale }) => SCHEDULE_TEXTS[locale.language].errors,
  rejections: actRejections,
  problem: confirmProblem,
  done: ({ referenceId }, { view }) => `${view.paths.payout(referenceId)}?done=cancelled`,
  render: (page, dependencies) => renderConfirmPayout({ ...page, action: 'cancel' }, dependencies),
});
