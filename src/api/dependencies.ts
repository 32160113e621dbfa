import type { DerivedKeys } from '../crypto/derived-keys';
import type { PublicAddresses } from '../crypto/public-links';
import type { Sealer } from '../crypto/sealing';
import type { Pool } from '../db/connection/pool';
import type { HttpDependencies } from '../http/http-dependencies';
import type { KeyedMutex } from '../lib/keyed-mutex';
import type { ProviderRegistry } from '../providers/registry';
import type { SingleFlight } from '../services/payments/create/single-flight';
import type { LostWorkflows } from '../services/recovery/lost-workflows';
import type { PaymentWorkflowClient } from '../temporal/payment-workflow-client';
import type { QrisImages } from './qris-images/qris-images';
import type { WebhookStreams } from './webhook-stream/webhook-streams';

/** The services that the endpoints use. */
export interface ApiDependencies extends HttpDependencies, PublicAddresses {
  readonly db: Pool;
  /** For requests without a key: they cannot take the connections of merchants. */
  readonly keylessDb: Pool;
  readonly workflows: PaymentWorkflowClient;
  readonly createFlights: SingleFlight;
  readonly lostWorkflows: Pick<LostWorkflows, 'check' | 'checkExpired'>;
  readonly providers: ProviderRegistry;
  readonly sealer: Sealer;
  readonly derivedKeys: DerivedKeys;
  readonly qrisImages: QrisImages;
  readonly webhookStreams: WebhookStreams;
  /** The address of this API for callers. */
  readonly publicBaseUrl: string;
  readonly paymentMutex: KeyedMutex;
}
