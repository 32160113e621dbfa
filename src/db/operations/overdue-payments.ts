import type { PaymentStatus } from '../../domain/payment-transitions';
import { REFUND_GRACE_MS } from '../../domain/reconciliation';
import { CREATED_AT, STATUS } from '../payments/payment-indexes';
import { IS_RECOVERING } from './recovery-mode';

/** After its timer. The timer may be late, and its step may need another attempt. */
const OVERDUE_AFTER = "interval '5 minutes'";

/** Payments that a timer should have moved on. Each part follows an index, the longest overdue first. */
export interface Overdue {
  readonly status: PaymentStatus;
  /** For a table named or aliased `payments`. */
  readonly condition: string;
  /** The expression of the index. */
  readonly order: string;
  readonly dueAt: string;
}

/** No payment of these settles, by the decision of an operator. */
const IS_ON_HOLD = `(payments.merchant_id in (select id from merchants where held_at is not null) or ${IS_RECOVERING})`;

const UNSETTLED: Overdue = {
  status: 'paid',
  condition: `${STATUS} = 'paid' and payments.settlement_kind = 'automatic'
    and payments.settlement_due_at < now() - ${OVERDUE_AFTER}`,
  order: 'payments.settlement_due_at',
  dueAt: 'payments.settlement_due_at',
};

/** What a timer or an attempt moves on, and no person. */
export const OVERDUE: readonly Overdue[] = [
  {
    status: 'created',
    condition: `${STATUS} = 'created' and ${CREATED_AT} < (now() at time zone 'utc') - 2 * ${OVERDUE_AFTER}`,
    order: CREATED_AT,
    dueAt: 'payments.created_at',
  },
  {
    status: 'pending',
    condition: `${STATUS} = 'pending' and payments.expires_at < now() - ${OVERDUE_AFTER}`,
    order: 'payments.expires_at',
    dueAt: 'payments.expires_at',
  },
  { ...UNSETTLED, condition: `${UNSETTLED.condition} and not ${IS_ON_HOLD}` },
];

/** Settlements of merchants on hold, and in recovery mode all of them. */
export const OVERDUE_BUT_ON_HOLD: Overdue = { ...UNSETTLED, condition: `${UNSETTLED.condition} and ${IS_ON_HOLD}` };

/** The provider has not confirmed it for ten minutes. For a table named or aliased `refunds`. */
export const IS_UNCONFIRMED_REFUND = `refunds.status = 'submitted'
  and refunds.submitted_at < now() - interval '${REFUND_GRACE_MS} milliseconds'`;

/** Only an operator settles it, from `settlement_due_at` on. For a table named or aliased `payments`. */
export const IS_SETTLED_BY_OPERATOR = "payments.status = 'paid' and payments.settlement_kind = 'manual'";
export const IS_SETTLEMENT_DUE = `${IS_SETTLED_BY_OPERATOR} and payments.settlement_due_at <= now()`;
