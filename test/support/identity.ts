import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** What `lunas merchants identify` reads. */
export const IDENTITY = {
  trading_name: 'Kopi Kita',
  category: 'regular',
  criterion: 'UKE',
  nmid: 'ID1020000000017',
  valid_until: null as string | null,
  legal_name: 'PT Kopi Kita Rahasia',
  owner_name: 'Sri Rahayu',
  owner_id_number: '3201010101900001',
  tax_number: '012345678901234',
  address: 'Jalan Satu 1',
  village: 'Coblong',
  district: 'Dago',
  city: 'Bandung',
  postal_code: '40111',
  documents: 'archive, number 12',
};

/** A file with an identity, or with any other content, in the directory for temporary files. */
export async function identityFile(content: unknown = IDENTITY): Promise<string> {
  const file = path.join(os.tmpdir(), `lunas-identity-${randomUUID()}.json`);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}
