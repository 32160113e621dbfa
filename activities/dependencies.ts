import type { TransitionContext } from '../src/db/transitions/apply-transition';
import type { ReconciliationPart, ReconciliationSlice } from '../src/domain/reconciliation';
import type { ProviderRegistry } from '../src/providers/registry';
import type { Sealer } from '../src/sealing';
import type { WebhookSender } from '../src/webhooks/send';

/** What the activities reach out to. */
export interface ActivityDependencies extends TransitionContext {
  readonly sealer: Sealer;
  readonly providers: ProviderRegistry;
  readonly webhooks: WebhookSender;
  /** How long a refund can be cancelled before it goes to the provider (`REFUND_HOLD_SECONDS`). */
  readonly refundHoldSeconds: number;
  /** `LUNAS_RECOVERY_MODE`: nothing is settled and no refund is requested, because PostgreSQL may be behind the provider. */
  readonly isRecovering: boolean;
  /** Goes on with a part of a reconciliation run for a while. */
  readonly reconcileSlice: (part: ReconciliationPart) => Promise<ReconciliationSlice>;
}
