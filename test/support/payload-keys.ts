import { KeyRing } from '../../src/crypto/master-keys';
import type { PayloadKeys } from '../../src/temporal/payload-codec';

const LABEL = 'lunas temporal payloads';

/** The payload keys of these master keys, without a database: none is retired. The first master key encrypts. */
export function payloadKeysOf(masterKey: string, ...oldMasterKeys: string[]): PayloadKeys {
  const ring = new KeyRing(masterKey, oldMasterKeys);
  return {
    current: () => ({ keyId: ring.current.id, key: ring.current.derive(LABEL) }),
    find: (keyId) => Promise.resolve(ring.byId(keyId)?.derive(LABEL)),
  };
}
