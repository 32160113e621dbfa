import type { Sealer } from '../src/crypto/sealing';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import type { ScheduledPayouts, ScheduledPayoutsPart, ScheduledPayoutsRun } from '../src/domain/payout-schedule';
import type { ReconciliationBatch, ReconciliationPart } from '../src/domain/reconciliation';
import type { RetentionDays } from '../src/domain/retention';
import type { Verifications } from '../src/domain/verification';
import type { Logger } from '../src/observability/logger';
import type { PayoutRegistry } from '../src/providers/payout-registry';
import type { ProviderRegistry } from '../src/providers/registry';
import type { ExpandBody } from '../src/webhooks/outbox';
import type { WebhookSender } from '../src/webhooks/send';

export interface ActivityDependencies extends TransitionContext {
  readonly log: Pick<Logger, 'error' | 'info'>;
  readonly sealer: Sealer;
  readonly providers: ProviderRegistry;
  readonly payouts: PayoutRegistry;
  readonly webhooks: WebhookSender;
  readonly expandBody: ExpandBody;
  /** `REFUND_HOLD_SECONDS`: how long a merchant can cancel a refund before it goes to the provider. */
  readonly refundHoldSeconds: number;
  /**
   * Whether recovery mode is on, as PostgreSQL has had it within the last 2 s. Then PostgreSQL may be behind the
   * provider, so nothing is settled and no refund is requested.
   */
  readonly isRecovering: () => Promise<boolean>;
  /** `…_RETENTION_DAYS`. */
  readonly retentionDays: RetentionDays;
  /** Continues a part of a reconciliation run for a limited time. */
  readonly reconcileBatch: (part: ReconciliationPart) => Promise<ReconciliationBatch>;
  /** Requests the payouts of a part of the daily run. */
  readonly requestScheduledPayouts: (part: ScheduledPayoutsPart, run: ScheduledPayoutsRun) => Promise<ScheduledPayouts>;
  readonly verifications: Verifications;
  /** Cuts and issues the invoices of fees that are due on a day, `YYYY-MM-DD` in WIB. */
  readonly issueDueInvoices: (today: string) => Promise<void>;
}
