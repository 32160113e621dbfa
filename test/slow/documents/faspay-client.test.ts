import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  newPayoutReference,
  openBank,
  type BankMerchant,
  type BankUnderTest,
} from '../../sandbox/bank/bank-under-test';
import type { Json } from '../../sandbox/sandbox-under-test';

const INSTALL_TIMEOUT_MS = 300_000;
const RUN_TIMEOUT_MS = 60_000;
/** On PyPI, without a licence: it is installed for this test only. The others are its dependencies. */
const PACKAGES = ['FaspaySendmeSnap==1.2.2', 'requests==2.32.5', 'pytz==2025.2', 'pycryptodomex==3.23.0'];

let bank: BankUnderTest;
let merchant: BankMerchant;
let directory: string;

const run = promisify(execFile);

beforeAll(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-faspay-'));
  cpSync(path.join(__dirname, 'faspay-client'), directory, { recursive: true });
  const install = ['-m', 'pip', 'install', '--quiet', '--target', '.', ...PACKAGES];
  await run('python3', install, { cwd: directory, timeout: INSTALL_TIMEOUT_MS });
  bank = await openBank();
  merchant = await bank.register('faspay');
  writeFileSync(path.join(directory, 'private.pem'), merchant.privateKeyPem, { mode: 0o600 });
  const settings = {
    host: merchant.baseUrl,
    channel_id: merchant.channelId,
    partner_id: merchant.partnerId,
    key_path: 'private.pem',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(path.join(directory, 'SendMeConfig.ini'), `[development]\n${lines.join('\n')}\n`);
});

afterAll(async () => {
  await bank.sandbox.close();
  rmSync(directory, { recursive: true });
});

async function callEach(requests: readonly { service: string; body: object }[]): Promise<Json[]> {
  const child = run('python3', ['call.py'], { cwd: directory, timeout: RUN_TIMEOUT_MS });
  child.child.stdin?.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const { stdout } = await child;
  return stdout
    .trim()
    .split('\n')
    .map((line): Json => JSON.parse(line));
}

it("Faspay's published client calls services 16, 18 and 36, and signs another body than it sends", async () => {
  const partnerReferenceNo = newPayoutReference();
  const transfer = {
    partnerReferenceNo,
    amount: { value: '250000.00', currency: 'IDR' },
    beneficiaryAccountName: 'TOKO DEMO LUNAS',
    beneficiaryAccountNo: '9900000020',
    beneficiaryBankCode: '002',
    sourceAccountNo: '9920000082',
    transactionDate: '2026-11-24T10:00:00+07:00',
  };
  const responses = await callEach([
    {
      service: 'inquiry',
      body: { beneficiaryBankCode: '002', beneficiaryAccountNo: '888801000157508', partnerReferenceNo },
    },
    { service: 'transfer', body: transfer },
    { service: 'transfer_status', body: { originalPartnerReferenceNo: partnerReferenceNo, serviceCode: '18' } },
  ]);
  expect(responses).toMatchObject([
    { responseCode: '2001600', beneficiaryAccountName: 'TOKO DEMO LUNAS' },
    { responseCode: '2001800', partnerReferenceNo },
    { responseCode: '2003600', latestTransactionStatus: '03' },
  ]);
  expect(await bank.findTransfer(partnerReferenceNo)).toMatchObject({ status: 'pending', send_calls: 1 });
  // It signs compact JSON and sends JSON with spaces: the raw body never verifies.
  const { calls } = await bank.sandbox.call('GET', `/simulator/snap/merchants/${merchant.clientId}/calls`);
  expect(calls.map(({ service, signed_form }: Json) => [service, signed_form])).toEqual([
    ['inquiry', 'compact'],
    ['transfer', 'compact'],
    ['transfer_status', 'compact'],
  ]);
});
