import { approvePayout } from '../../../services/payouts/approve-payout';
import { memberFormPages } from '../form-pages';
import { approveRejections } from './action-rejection-texts';
import { confirmProblem, renderConfirmPayout, versionFields } from './confirm-payout';
import { PAYOUT_ACTION_PATHS } from './payout-paths';
import { SCHEDULE_TEXTS } from './schedule-texts';

export const approvePayoutPages = memberFormPages({
  at: PAYOUT_ACTION_PATHS.approve,
  operation: approvePayout,
  path: ({ ref }) => ({ payout: ref }),
  fields: () => versionFields,
  errors: ({ locale }) => SCHEDULE_TEXTS[locale.language].errors,
  rejections: approveRejections,
  problem: confirmProblem,
  done: ({ referenceId }, { view }) => `${view.paths.payout(referenceId)}?done=approved`,
  render: (page, dependencies) => renderConfirmPayout({ ...page, action: 'approve' }, dependencies),
});
