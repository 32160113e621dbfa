import type { Environment } from '../../src/config';
import type { Queryable } from '../../src/db/pool';
import { createKey } from '../../src/operator/keys';
import { createMerchant } from '../../src/operator/merchants';

export interface SecondMerchant {
  readonly id: string;
  readonly secretKey: string;
}

/** Another approved merchant, with a key that has no restrictions. */
export async function createSecondMerchant(
  db: Queryable,
  environment: Environment = 'sandbox',
): Promise<SecondMerchant> {
  const merchant = await createMerchant(db, {
    name: 'Second',
    feePayer: 'merchant',
    providers: ['gopay', 'shopeepay'],
    approve: true,
  });
  const { secret } = await createKey(db, { merchantId: merchant.id, environment });
  return { id: merchant.id, secretKey: secret };
}
