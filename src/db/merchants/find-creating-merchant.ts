import type { FeePayer } from '../../domain/fees';
import type { ProviderName } from '../../domain/provider-capabilities';
import type { Queryable } from '../connection/pool';

/** What of a merchant decides about its new payments. */
export interface CreatingMerchantRow {
  readonly merchantId: string;
  readonly feePayer: FeePayer;
  readonly providers: readonly ProviderName[];
  readonly paymentMethodActive: boolean;
  readonly returnUrl: string | null;
  readonly checkoutOrigins: readonly string[];
  /** The cell that has the merchant. */
  readonly cell: string;
}

export async function findCreatingMerchant(db: Queryable, merchantId: string): Promise<CreatingMerchantRow> {
  const { rows } = await db.query<CreatingMerchantRow>({
    name: 'find_creating_merchant',
    text: `select id as "merchantId", fee_payer as "feePayer", providers,
        payment_method_active as "paymentMethodActive", return_url as "returnUrl",
        checkout_origins as "checkoutOrigins", (select cell from installation) as cell
      from merchants where id = $1`,
    values: [merchantId],
  });
  const [merchant] = rows;
  if (!merchant) throw new Error(`There is no merchant ${merchantId}`);
  return merchant;
}
