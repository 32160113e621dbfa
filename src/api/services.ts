import type { Pool } from '../db/pool';
import type { PaymentsEngine } from '../engine/payments-engine';
import type { Logger } from '../log';
import type { ProviderRegistry } from '../providers/registry';
import type { Sealer } from '../sealing';
import type { QrisLinks } from './get-qris-picture/qris-links';

/** What the endpoints reach out to. */
export interface ApiServices {
  readonly db: Pool;
  readonly engine: PaymentsEngine;
  readonly providers: ProviderRegistry;
  readonly sealer: Sealer;
  readonly qrisLinks: QrisLinks;
  readonly log: Logger;
}
