import type { Environment } from '../../src/config';
import type { Queryable } from '../../src/db/connection/pool';
import { insertMerchant } from '../../src/services/merchants/merchants';
import { issueKey } from './keys';

export interface SecondMerchant {
  readonly id: string;
  readonly secretKey: string;
}

/** Another approved merchant, with a key that has no restrictions. */
export async function createSecondMerchant(
  db: Queryable,
  environment: Environment = 'sandbox',
): Promise<SecondMerchant> {
  const merchant = await insertMerchant(db, {
    name: 'Second',
    feePayer: 'merchant',
    providers: ['gopay', 'shopeepay'],
    approve: true,
  });
  const { secret } = await issueKey(db, { merchantId: merchant.id, environment });
  return { id: merchant.id, secretKey: secret };
}
