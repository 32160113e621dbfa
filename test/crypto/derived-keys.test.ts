import { randomBytes } from 'node:crypto';
import { DerivedKeys, retireOldKeys } from '../../src/crypto/derived-keys';
import { createSealer } from '../../src/crypto/sealing';
import { createPool } from '../../src/db/connection/pool';
import { createLogger } from '../../src/observability/logger';
import { EncryptingCodec, payloadKeys, WorkerCodec } from '../../src/temporal/payload-codec';
import { createTestDatabase } from '../support/database';

const newKey = () => randomBytes(32).toString('base64');
const LABEL = 'lunas temporal payloads';
const TTL_MS = 10_000;

afterEach(() => jest.restoreAllMocks());

it('a retired key stays readable without PostgreSQL; one that was never read is an error, and no forgery', async () => {
  const database = await createTestDatabase();
  const db = createPool(database.url);
  const [oldKey, key] = [newKey(), newKey()];
  const [old, both, current] = [createSealer(oldKey), createSealer(key, [oldKey]), createSealer(key)];
  await retireOldKeys(db, both);
  const known = new DerivedKeys(db, current);
  const retired = await known.find(LABEL, old.keys.current.id);
  expect(retired?.equals(old.keys.current.derive(LABEL))).toBe(true);
  const unknown = new DerivedKeys(db, current);
  const codec = new EncryptingCodec(payloadKeys(new DerivedKeys(db, old)), 'default');
  const [payload = {}] = await codec.encode([{ metadata: { encoding: Buffer.from('binary/null') } }]);
  await db.end();
  await database.drop();

  const later = performance.now() + 2 * TTL_MS;
  jest.spyOn(performance, 'now').mockImplementation(() => later);
  const stale = await known.find(LABEL, old.keys.current.id);
  expect(stale?.equals(old.keys.current.derive(LABEL))).toBe(true);
  const again = await known.find(LABEL, old.keys.current.id);
  expect(again?.equals(old.keys.current.derive(LABEL))).toBe(true);

  const worker = new WorkerCodec(new EncryptingCodec(payloadKeys(unknown), 'default'), createLogger('test', 'silent'));
  await expect(worker.decode([payload])).rejects.toThrow(/end/);
});
