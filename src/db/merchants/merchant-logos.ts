import type { Queryable } from '../connection/pool';

/** A logo as pages show it. */
export interface Logo {
  /** The hash of its bytes, in hexadecimal digits. */
  readonly hash: string;
  readonly width: number;
  readonly height: number;
}

export interface LogoImage extends Pick<Logo, 'width' | 'height'> {
  readonly png: Buffer;
}

/** The logo of a row of `merchant_logos` that is named `logo`; null if there is none. It does not read the image. */
export const LOGO_COLUMN = `case when logo.merchant_id is not null then json_build_object(
    'hash', encode(logo.sha256, 'hex'), 'width', logo.width, 'height', logo.height) end as logo`;

/** The image with this hash. */
export async function findLogo(db: Queryable, hash: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ png: Buffer }>({
    name: 'find_logo',
    text: `select png from merchant_logos where sha256 = decode($1, 'hex') limit 1`,
    values: [hash],
  });
  return rows[0]?.png;
}

/** Replaces the logo of the merchant. A trigger makes the notice to every owner. */
export async function replaceLogo(db: Queryable, merchantId: string, logo: LogoImage): Promise<void> {
  await db.query(
    `insert into merchant_logos (merchant_id, png, width, height) values ($1, $2, $3, $4)
     on conflict (merchant_id) do update set png = excluded.png, width = excluded.width, height = excluded.height`,
    [merchantId, logo.png, logo.width, logo.height],
  );
}

/** The notice is as that of a new one. @returns false if the merchant has no logo */
export async function deleteLogo(db: Queryable, merchantId: string): Promise<boolean> {
  const { rows } = await db.query('delete from merchant_logos where merchant_id = $1 returning merchant_id', [
    merchantId,
  ]);
  return rows.length > 0;
}
