import type { Command } from 'commander';
import { z } from 'zod';
import { FEE_PAYERS } from '../../domain/fees';
import { PROVIDERS } from '../../domain/provider-capabilities';
import type { OperatorActionName } from '../../operator/audit';
import {
  changeMerchant,
  createMerchant,
  listMerchants,
  type Merchant,
  type MerchantChanges,
  PAYMENT_METHOD_STATUSES,
} from '../../operator/merchants';
import { auditedCommand } from '../actor';
import { answering, repeated, withExamples } from '../answering';
import { id, listed, oneOf } from '../inputs';
import { type Answer, formatFields, formatTable } from '../output';
import { type Settings, withDatabase } from '../settings';
import type { Terminal } from '../terminal';

const MOST_NAME_CHARACTERS = 100;

export function addMerchantsCommand(program: Command, terminal: Terminal): void {
  const merchants = program.command('merchants').description('who takes payments, and how');
  addCreate(merchants, terminal);
  addList(merchants, terminal);
  addApprove(merchants, terminal);
  addSuspend(merchants, terminal);
  addSet(merchants, terminal);
}

function addCreate(merchants: Command, terminal: Terminal): void {
  const command = merchants
    .command('create')
    .description('register a merchant')
    .requiredOption('--name <name>', 'what to call it')
    .option('--fee-payer <payer>', `who bears the fee: ${listed(FEE_PAYERS)}`, 'merchant')
    .option('--provider <provider>', `${listed(PROVIDERS)}; repeat for both (default: gopay)`, repeated)
    .option('--approve', 'let it take payments at once');
  withExamples(
    command,
    'lunas merchants create --name "Toko Maju" --approve',
    'lunas merchants create --name "Toko Maju" --provider gopay --provider shopeepay',
  );
  const input = z.object({
    name: z
      .string()
      .trim()
      .min(1, 'must not be empty')
      .max(MOST_NAME_CHARACTERS, `must have at most ${MOST_NAME_CHARACTERS} characters`),
    feePayer: oneOf(FEE_PAYERS),
    provider: z.array(oneOf(PROVIDERS)).default(['gopay']),
    approve: z.boolean().default(false),
  });
  answering(command, terminal, input, ({ provider, ...merchant }, settings) =>
    withDatabase(settings, async (db) => oneMerchant(await createMerchant(db, { ...merchant, providers: provider }))),
  );
}

function addList(merchants: Command, terminal: Terminal): void {
  const command = merchants.command('list').description('show all merchants');
  answering(command, terminal, z.object({}), (_, settings) =>
    withDatabase(settings, async (db) => manyMerchants(await listMerchants(db))),
  );
}

function addApprove(merchants: Command, terminal: Terminal): void {
  const command = merchants.command('approve <merchant-id>').description('let a merchant take payments');
  answering(command, terminal, z.object({ merchantId: id }), ({ merchantId }, settings) =>
    change(settings, 'merchant.approve', merchantId, { status: 'approved' }),
  );
}

function addSuspend(merchants: Command, terminal: Terminal): void {
  const command = merchants.command('suspend <merchant-id>').description("refuse a merchant's requests from now on");
  answering(command, terminal, z.object({ merchantId: id }), ({ merchantId }, settings) =>
    change(settings, 'merchant.suspend', merchantId, { status: 'suspended' }),
  );
}

function addSet(merchants: Command, terminal: Terminal): void {
  const command = merchants
    .command('set <merchant-id>')
    .description('change how a merchant takes payments; what is not given stays')
    .option('--fee-payer <payer>', `who bears the fee of new payments: ${listed(FEE_PAYERS)}`)
    .option('--provider <provider>', `${listed(PROVIDERS)}; repeat for both`, repeated)
    .option('--payment-method <status>', `whether qris may be used: ${listed(PAYMENT_METHOD_STATUSES)}`);
  withExamples(
    command,
    'lunas merchants set MERCHANT_ID --fee-payer buyer',
    'lunas merchants set MERCHANT_ID --provider gopay --provider shopeepay',
  );
  const input = z
    .object({
      merchantId: id,
      feePayer: oneOf(FEE_PAYERS).optional(),
      provider: z.array(oneOf(PROVIDERS)).optional(),
      paymentMethod: oneOf(PAYMENT_METHOD_STATUSES).optional(),
    })
    .refine(({ feePayer, provider, paymentMethod }) => feePayer ?? provider ?? paymentMethod, {
      error: 'needs --fee-payer, --provider or --payment-method',
    });
  answering(command, terminal, input, ({ merchantId, provider, ...changes }, settings) =>
    change(settings, 'merchant.set', merchantId, { ...changes, providers: provider }),
  );
}

function change(
  settings: Settings,
  action: OperatorActionName,
  merchantId: string,
  changes: MerchantChanges,
): Promise<Answer> {
  return withDatabase(settings, async (db) =>
    oneMerchant(await auditedCommand(db, action, merchantId, () => changeMerchant(db, merchantId, changes))),
  );
}

function oneMerchant(merchant: Merchant): Answer {
  return {
    json: { merchant },
    text: formatFields({
      Merchant: merchant.id,
      Name: merchant.name,
      Status: merchant.status,
      'Fee payer': merchant.feePayer,
      Providers: merchant.providers,
      QRIS: merchant.paymentMethod,
    }),
  };
}

function manyMerchants(merchants: readonly Merchant[]): Answer {
  const columns = {
    ID: (merchant: Merchant) => merchant.id,
    NAME: (merchant: Merchant) => merchant.name,
    STATUS: (merchant: Merchant) => merchant.status,
    'FEE PAYER': (merchant: Merchant) => merchant.feePayer,
    PROVIDERS: (merchant: Merchant) => merchant.providers,
    QRIS: (merchant: Merchant) => merchant.paymentMethod,
  };
  return {
    json: { merchants },
    text: formatTable(merchants, columns, 'There is no merchant yet; lunas merchants create registers one.'),
  };
}
