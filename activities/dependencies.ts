import type { TransitionContext } from '../src/db/transitions/apply-transition';
import type { ProviderRegistry } from '../src/providers/registry';
import type { Sealer } from '../src/sealing';
import type { WebhookSender } from '../src/webhooks/send';

/** What the activities reach out to. */
export interface ActivityDependencies extends TransitionContext {
  readonly sealer: Sealer;
  readonly providers: ProviderRegistry;
  readonly webhooks: WebhookSender;
}
