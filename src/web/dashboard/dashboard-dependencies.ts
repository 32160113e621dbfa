import type { Environment } from '../../config';
import type { PublicAddresses } from '../../crypto/public-links';
import type { Sealer } from '../../crypto/sealing';
import type { Pool } from '../../db/connection/pool';
import type { RateLimit } from '../../http/rate-limit/rate-limit';
import type { KeyedMutex } from '../../lib/keyed-mutex';
import type { Logger } from '../../observability/logger';
import type { IdentityDependencies } from '../../services/identity/sign-in';
import type { CreateDependencies } from '../../services/payments/create/create-payment';
import type { Readiness } from '../../services/readiness';
import type { PaymentWorkflowClient } from '../../temporal/payment-workflow-client';
import type { ReceiverRules } from '../../webhooks/ssrf-guard';
import type { CheckoutPages } from '../checkout/checkout-pages';
import type { CheckoutWatch } from '../checkout/checkout-watch';
import type { ExportLimit } from '../page/export-limit';
import type { HourlyLimit } from '../page/hourly-limit';
import type { PageDependencies } from '../page/page-app';
import type { PageCookie } from '../page/session-cookie';

/** What the pages of merchants use. */
export interface DashboardDependencies
  extends PageDependencies, CreateDependencies, PublicAddresses, IdentityDependencies {
  readonly db: Pool;
  readonly log: Logger;
  readonly sealer: Sealer;
  readonly loadSealer: () => Promise<Sealer>;
  readonly workflows: PaymentWorkflowClient;
  readonly paymentMutex: KeyedMutex;
  readonly checkoutPages: CheckoutPages;
  readonly checkoutWatch: CheckoutWatch;
  readonly readiness: Readiness;
  readonly environment: Environment;
  /** The limit of each merchant, which the API counts too. */
  readonly rateLimit: RateLimit;
  readonly exportLimit: ExportLimit;
  /** The logos that the members of a merchant upload. */
  readonly logoLimit: HourlyLimit;
  /** Which addresses an endpoint may have. */
  readonly receiverRules: ReceiverRules;
  /** The cookie names a browser in which a user has signed in before. */
  readonly browserCookie: PageCookie;
  /** At which merchants' servers reach the API. */
  readonly publicBaseUrl: string;
}
