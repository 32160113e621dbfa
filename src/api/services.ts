import type { Pool } from '../db/pool';
import type { PaymentsEngine } from '../engine/payments-engine';
import type { Logger } from '../log';
import type { ProviderRegistry } from '../providers/registry';
import type { Sealer } from '../sealing';
import type { ApiKeys } from './auth/api-keys';
import type { FailedKeys } from './auth/failed-keys';
import type { Creations } from './create-payment/creations';
import type { Turns } from './turns';
import type { QrisLinks } from './get-qris-picture/qris-links';
import type { RateLimit } from './rate-limit/rate-limit';

/** What the endpoints reach out to. */
export interface ApiServices {
  readonly db: Pool;
  readonly engine: PaymentsEngine;
  readonly creations: Creations;
  readonly providers: ProviderRegistry;
  readonly sealer: Sealer;
  readonly qrisLinks: QrisLinks;
  readonly rateLimit: RateLimit;
  readonly apiKeys: ApiKeys;
  readonly failedKeys: FailedKeys;
  /** Where callers reach us. */
  readonly publicBaseUrl: string;
  readonly turns: Turns;
  readonly log: Logger;
}
