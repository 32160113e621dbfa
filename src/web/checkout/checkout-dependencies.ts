import type { Queryable } from '../../db/connection/pool';
import type { CheckoutLinks } from './checkout-links';
import type { CheckoutWatch } from './checkout-watch';

/** What the checkout pages use. */
export interface CheckoutDependencies {
  /** Connections for requests without a key: they cannot take those of merchants. */
  readonly publicDb: Queryable;
  readonly checkoutLinks: CheckoutLinks;
  readonly checkoutWatch: CheckoutWatch;
}
