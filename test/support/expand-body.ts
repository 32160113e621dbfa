import { DerivedKeys } from '../../src/crypto/derived-keys';
import { publicAddresses } from '../../src/crypto/public-links';
import type { Sealer } from '../../src/crypto/sealing';
import type { Queryable } from '../../src/db/connection/pool';
import { bodyExpander } from '../../src/services/webhooks/expand-body';
import type { ExpandBody } from '../../src/webhooks/outbox';

export const linksOf = (db: Queryable, sealer: Sealer) =>
  publicAddresses(new DerivedKeys(db, sealer), 'http://lunas.test');

/** As the worker has it. */
export const expandBodyOf = (db: Queryable, sealer: Sealer): ExpandBody =>
  bodyExpander({ sealer, ...linksOf(db, sealer) });
