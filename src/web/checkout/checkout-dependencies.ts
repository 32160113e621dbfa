import type { PublicLinks } from '../../crypto/public-links';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import type { Logger } from '../../observability/logger';
import type { LostWorkflows } from '../../services/recovery/lost-workflows';
import type { CheckoutPages } from './checkout-pages';
import type { CheckoutWatch } from './checkout-watch';
import type { LinkPages } from './link/link-pages';

/** What the checkout pages use. */
export interface CheckoutDependencies {
  /** Connections for requests without a key: they cannot take those of merchants. */
  readonly keylessDb: Queryable;
  readonly checkoutLinks: PublicLinks;
  readonly linkAddresses: PublicLinks;
  readonly sealer: Sealer;
  readonly checkoutPages: CheckoutPages;
  readonly linkPages: LinkPages;
  readonly checkoutWatch: CheckoutWatch;
  readonly lostWorkflows: Pick<LostWorkflows, 'check' | 'checkExpired'>;
  readonly log: Logger;
}

/** What the page, the image and the receipt of a payment are made from. */
export type CheckoutPageDependencies = Pick<
  CheckoutDependencies,
  'checkoutLinks' | 'checkoutPages' | 'keylessDb' | 'log' | 'sealer'
>;
