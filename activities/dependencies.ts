import type { TransitionContext } from '../src/db/transitions/apply-transition';
import type { ReconciliationPart, ReconciliationSlice } from '../src/domain/reconciliation';
import type { RetentionDays } from '../src/domain/retention';
import type { ProviderRegistry } from '../src/providers/registry';
import type { Sealer } from '../src/crypto/sealing';
import type { WebhookSender } from '../src/webhooks/send';

export interface ActivityDependencies extends TransitionContext {
  readonly sealer: Sealer;
  readonly providers: ProviderRegistry;
  readonly webhooks: WebhookSender;
  /** `REFUND_HOLD_SECONDS`: how long a merchant can cancel a refund before it goes to the provider. */
  readonly refundHoldSeconds: number;
  /** `LUNAS_RECOVERY_MODE`: PostgreSQL may be behind the provider, so nothing is settled and no refund is requested. */
  readonly isRecovering: boolean;
  /** `…_RETENTION_DAYS`. */
  readonly retentionDays: RetentionDays;
  /** Continues a part of a reconciliation run for a limited time. */
  readonly reconcileSlice: (part: ReconciliationPart) => Promise<ReconciliationSlice>;
}
