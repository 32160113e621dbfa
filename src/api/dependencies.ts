import type { Environment } from '../config';
import type { Pool } from '../db/pool';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import type { Logger } from '../logger';
import type { ProviderRegistry } from '../providers/registry';
import type { DerivedKeys } from '../db/derived-keys';
import type { Sealer } from '../sealing';
import type { Admission } from './admission';
import type { ApiKeys } from './auth/api-keys';
import type { AuthFailureLimiter } from './auth/auth-failure-limiter';
import type { KnownKeys } from './auth/known-keys';
import type { SingleFlight } from './payments/create-payment/single-flight';
import type { CheckoutLinks } from './checkout/checkout-links';
import type { CheckoutWatch } from './checkout/checkout-watch';
import type { KeyedMutex } from './keyed-mutex';
import type { Readiness } from './health/readiness';
import type { QrisImages } from './qris-images/qris-images';
import type { QrisLinks } from './qris-images/qris-links';
import type { RequestLog } from './request-log';
import type { RateLimit } from './rate-limit/rate-limit';
import type { PublicBudget } from './rate-limit/public-budget';
import type { WebhookStreams } from './webhook-stream/webhook-streams';

/** The services that the endpoints use. */
export interface ApiDependencies {
  readonly db: Pool;
  /** For requests without a key: they cannot take the connections of merchants. */
  readonly publicDb: Pool;
  readonly workflows: PaymentWorkflowClient;
  readonly admission: Admission;
  readonly creations: SingleFlight;
  readonly providers: ProviderRegistry;
  readonly sealer: Sealer;
  readonly derivedKeys: DerivedKeys;
  readonly qrisLinks: QrisLinks;
  readonly qrisImages: QrisImages;
  readonly checkoutLinks: CheckoutLinks;
  readonly checkoutWatch: CheckoutWatch;
  readonly webhookStreams: WebhookStreams;
  readonly rateLimit: RateLimit;
  readonly publicBudget: PublicBudget;
  readonly readiness: Readiness;
  readonly apiKeys: ApiKeys;
  readonly knownKeys: KnownKeys;
  readonly failedKeys: AuthFailureLimiter;
  /** Keys of the other environment are not accepted. */
  readonly environment: Environment;
  /** The address of this API for callers. */
  readonly publicBaseUrl: string;
  readonly mutex: KeyedMutex;
  readonly requestLog: RequestLog;
  readonly log: Logger;
}
