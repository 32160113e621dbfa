import { randomUUID } from 'node:crypto';
import { fixValue } from '../../src/crypto/fixed-value';
import { createSealer } from '../../src/crypto/sealing';
import {
  changeBankAccount,
  insertBankAccount,
  stopBankAccount,
  verifyBankAccount,
} from '../../src/db/transitions/bank-account-transitions';
import type { TestService } from './service';

/** A bank account in a status, without the bank. The merchant's earlier accounts end. @returns its id */
export async function prepareBankAccount(
  { db, masterKey }: Pick<TestService, 'db' | 'masterKey'>,
  merchantId: string,
  status: 'pending_inquiry' | 'pending_approval' | 'rejected' | 'active' | 'suspended',
  number = '1234567890',
): Promise<string> {
  await db.query(
    `update bank_accounts set status = case when status in ('active', 'suspended') then 'disabled' else 'withdrawn' end,
       version = version + 1
     where merchant_id = $1 and status in ('active', 'suspended', 'pending_inquiry', 'pending_approval')`,
    [merchantId],
  );
  const sealer = createSealer(masterKey);
  const [id, at, bankCode, actor] = [randomUUID(), new Date(), '014', 'cli:test'] as const;
  const { sealed: sealedNumber, hash: numberHmac } = fixValue(sealer, number, [
    'bank-account-number',
    id,
    merchantId,
    bankCode,
  ]);
  const lastFour = number.slice(-4);
  await insertBankAccount(db, { id, merchantId, bankCode, sealedNumber, numberHmac, lastFour, at, actor });
  const change = { id, merchantId, version: null, at, actor } as const;
  const sealedHolderName = sealer.seal('TOKO DEMO LUNAS', ['bank-account-holder', id]);
  const holder = { sealedHolderName, nameMatch: 'same', sameNumberMerchants: [] } as const;
  if (status === 'rejected') await stopBankAccount(db, 'reject', change, 'The account is of another company.');
  if (status === 'pending_inquiry' || status === 'rejected') return id;
  await verifyBankAccount(db, change, holder);
  if (status === 'pending_approval') return id;
  await changeBankAccount(db, 'approve', change);
  if (status === 'suspended') await stopBankAccount(db, 'suspend', change, 'The bank reports that it is closed.');
  return id;
}
