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
import { withCommandAudit } from '../operator-identity';
import { defineAction, collect, withExamples } from '../command-action';
import { id, joinOptions, oneOf } from '../option-schemas';
import { type CommandResult, formatFields, formatTable } from '../output';
import { type CommandContext, withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

const MAX_NAME_CHARACTERS = 100;

export function addMerchantsCommand(program: Command, terminal: Terminal): void {
  const merchants = program.command('merchants').description('merchants and how they take payments');
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
    .requiredOption('--name <name>', "the merchant's name")
    .option('--fee-payer <payer>', `who pays the fee: ${joinOptions(FEE_PAYERS)}`, 'merchant')
    .option('--provider <provider>', `${joinOptions(PROVIDERS)}; repeat for both (default: gopay)`, collect)
    .option('--approve', 'allow payments immediately');
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
      .max(MAX_NAME_CHARACTERS, `must have at most ${MAX_NAME_CHARACTERS} characters`),
    feePayer: oneOf(FEE_PAYERS),
    provider: z.array(oneOf(PROVIDERS)).default(['gopay']),
    approve: z.boolean().default(false),
  });
  defineAction(command, terminal, input, ({ provider, ...merchant }, context) =>
    withDatabase(context, async (db) =>
      merchantDetails(await createMerchant(db, { ...merchant, providers: provider })),
    ),
  );
}

function addList(merchants: Command, terminal: Terminal): void {
  const command = merchants.command('list').description('list all merchants');
  defineAction(command, terminal, z.object({}), (_, context) =>
    withDatabase(context, async (db) => merchantTable(await listMerchants(db))),
  );
}

function addApprove(merchants: Command, terminal: Terminal): void {
  const command = merchants.command('approve <merchant-id>').description('allow a merchant to take payments');
  defineAction(command, terminal, z.object({ merchantId: id }), ({ merchantId }, context) =>
    change(context, 'merchant.approve', merchantId, { status: 'approved' }),
  );
}

function addSuspend(merchants: Command, terminal: Terminal): void {
  const command = merchants.command('suspend <merchant-id>').description("reject a merchant's requests from now on");
  defineAction(command, terminal, z.object({ merchantId: id }), ({ merchantId }, context) =>
    change(context, 'merchant.suspend', merchantId, { status: 'suspended' }),
  );
}

function addSet(merchants: Command, terminal: Terminal): void {
  const command = merchants
    .command('set <merchant-id>')
    .description('change how a merchant takes payments; absent options keep their values')
    .option('--fee-payer <payer>', `who pays the fee of new payments: ${joinOptions(FEE_PAYERS)}`)
    .option('--provider <provider>', `${joinOptions(PROVIDERS)}; repeat for both`, collect)
    .option('--payment-method <status>', `whether qris may be used: ${joinOptions(PAYMENT_METHOD_STATUSES)}`);
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
  defineAction(command, terminal, input, ({ merchantId, provider, ...changes }, context) =>
    change(context, 'merchant.set', merchantId, { ...changes, providers: provider }),
  );
}

function change(
  context: CommandContext,
  action: OperatorActionName,
  merchantId: string,
  changes: MerchantChanges,
): Promise<CommandResult> {
  return withDatabase(context, async (db) =>
    merchantDetails(await withCommandAudit(db, action, merchantId, () => changeMerchant(db, merchantId, changes))),
  );
}

function merchantDetails(merchant: Merchant): CommandResult {
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

function merchantTable(merchants: readonly Merchant[]): CommandResult {
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
