import type { DerivedKeys } from '../crypto/derived-keys';
import type { PublicLinks } from '../crypto/public-links';
import type { Sealer } from '../crypto/sealing';
import type { Pool } from '../db/connection/pool';
import type { HttpDependencies } from '../http/http-dependencies';
import type { KeyedMutex } from '../lib/keyed-mutex';
import type { ProviderRegistry } from '../providers/registry';
import type { Readiness } from '../services/readiness';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import type { CheckoutDependencies } from '../web/checkout/checkout-dependencies';
import type { Admission } from './admission';
import type { SingleFlight } from './payments/create-payment/single-flight';
import type { QrisImages } from './qris-images/qris-images';
import type { WebhookStreams } from './webhook-stream/webhook-streams';

/** The services that the endpoints use. */
export interface ApiDependencies extends HttpDependencies, CheckoutDependencies {
  readonly db: Pool;
  /** For requests without a key: they cannot take the connections of merchants. */
  readonly keylessDb: Pool;
  readonly workflows: PaymentWorkflowClient;
  readonly admission: Admission;
  readonly createFlights: SingleFlight;
  readonly providers: ProviderRegistry;
  readonly sealer: Sealer;
  readonly derivedKeys: DerivedKeys;
  readonly qrisLinks: PublicLinks;
  readonly qrisImages: QrisImages;
  readonly webhookStreams: WebhookStreams;
  readonly readiness: Readiness;
  /** The address of this API for callers. */
  readonly publicBaseUrl: string;
  /** For the documents; null: it is not known, or there is none. */
  readonly sandboxUrl: string | null;
  readonly paymentMutex: KeyedMutex;
}
