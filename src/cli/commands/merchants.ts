import { z } from 'zod';
import { FEE_PAYERS } from '../../domain/fees';
import { DEFAULT_PROVIDER, PROVIDERS } from '../../domain/provider-capabilities';
import { contactHref, MAX_CONTACT_CHARACTERS } from '../../domain/shop-contact';
import { approveMerchant } from '../../services/merchants/approve-merchant';
import { createMerchant, MAX_MERCHANT_NAME_CHARACTERS } from '../../services/merchants/create-merchant';
import { cancelPendingPayments, holdMerchant, type Cancellation } from '../../services/merchants/hold-merchant';
import { listMerchants, PAYMENT_METHOD_STATUSES, type Merchant } from '../../services/merchants/merchants';
import { releaseMerchant } from '../../services/merchants/release-merchant';
import { removeLogo } from '../../services/merchants/remove-logo';
import { setFeePayer } from '../../services/merchants/set-fee-payer';
import { MAX_ORIGINS, MAX_URL_CHARACTERS, setMerchant } from '../../services/merchants/set-merchant';
import { REFERENCE_PLACEHOLDER } from '../../services/merchants/shop-address';
import { suspendMerchant } from '../../services/merchants/suspend-merchant';
import { requireDone } from '../../services/operations/require-done';
import { withTemporal } from '../command-context';
import { collect, type LunasCommand } from '../lunas-command';
import { id, joinOptions, note, oneOf, textUpTo } from '../option-schemas';
import { formatFields, formatTable, type CommandResult } from '../output';
import { explainOutcome, outcomeRow } from '../render-outcome';
import { runOperation } from '../run-operation';
import { addIdentityCommands } from './merchant-identity';

const TOO_MANY_ORIGINS = { error: `may be repeated at most ${MAX_ORIGINS} times` };

/** What is sent to an operation without a choice. */
const on = (merchantId: string) => ({ path: { merchant: merchantId }, input: {} });

export function defineMerchants(merchants: LunasCommand): void {
  addCreate(merchants);
  merchants
    .command('list')
    .description('list all merchants')
    .databaseAction(z.object({}), async (_, db) => {
      const list = await listMerchants(db);
      const rows = list.map((merchant) => ({
        ID: merchant.id,
        NAME: merchant.name,
        STATUS: merchant.status,
        'FEE PAYER': merchant.feePayer,
        PROVIDERS: merchant.providers,
        QRIS: merchant.paymentMethod,
        'ON HOLD SINCE': merchant.heldAt,
      }));
      const text = formatTable(rows, 'There is no merchant yet; lunas merchants create registers one.');
      return { json: { merchants: list }, text };
    });
  merchants
    .command('approve <merchant-id>')
    .description('allow a merchant to take payments')
    .writeAction(z.object({ merchantId: id }), async ({ merchantId }, audit) =>
      merchantDetails(requireDone(await runOperation(audit, approveMerchant, audit, on(merchantId)))),
    );
  merchants
    .command('suspend <merchant-id>')
    .description("reject a merchant's requests from now on")
    .writeAction(z.object({ merchantId: id }), async ({ merchantId }, audit) =>
      merchantDetails(requireDone(await runOperation(audit, suspendMerchant, audit, on(merchantId)))),
    );
  addHold(merchants);
  addRelease(merchants);
  addSet(merchants);
  addRemoveLogo(merchants);
  addIdentityCommands(merchants);
}

function addCreate(merchants: LunasCommand): void {
  const input = z.object({
    name: textUpTo(MAX_MERCHANT_NAME_CHARACTERS),
    feePayer: oneOf(FEE_PAYERS),
    provider: z.array(oneOf(PROVIDERS)).default([DEFAULT_PROVIDER]),
    approve: z.boolean().default(false),
  });
  merchants
    .command('create')
    .description('register a merchant')
    .requiredOption('--name <name>', "the merchant's name")
    .option('--fee-payer <payer>', `who pays the fee: ${joinOptions(FEE_PAYERS)}`, 'merchant')
    .option(
      '--provider <provider>',
      `${joinOptions(PROVIDERS)}; repeat for both (default: ${DEFAULT_PROVIDER})`,
      collect,
    )
    .option('--approve', 'allow payments immediately')
    .examples(
      'lunas merchants create --name "Toko Maju" --approve',
      'lunas merchants create --name "Toko Maju" --provider gopay --provider shopeepay',
    )
    .writeAction(input, async ({ provider, ...merchant }, audit) => {
      const call = { path: {}, input: { ...merchant, providers: provider } };
      return merchantDetails(requireDone(await runOperation(audit, createMerchant, audit, call)));
    });
}

function addHold(merchants: LunasCommand): void {
  const input = z.object({ merchantId: id, note, cancelPayments: z.boolean().default(false) });
  merchants
    .command('hold <merchant-id>')
    .description("stop the settlement of a merchant's payments; `suspend` rejects its requests")
    .requiredOption('--note <text>', 'why, for the audit log')
    .option('--cancel-payments', 'also cancel its pending payments at the provider')
    .examples('lunas merchants hold MERCHANT_ID --cancel-payments --note "fraud, case 4711"')
    .writeAction(input, async ({ merchantId, note, cancelPayments }, audit, context) => {
      const { db, log, actor } = audit;
      const held = merchantDetails(requireDone(await runOperation(audit, holdMerchant, audit, on(merchantId))));
      if (!cancelPayments) return held;
      return withTemporal(context, db, async (workflows) =>
        withCancellations(held, await cancelPendingPayments({ db, log, workflows }, actor, merchantId, note)),
      );
    });
}

function withCancellations(held: CommandResult, cancellations: readonly Cancellation[]): CommandResult {
  const rows = cancellations.map(outcomeRow);
  const open = cancellations.filter(({ outcome }) => outcome !== 'cancelled').length;
  return {
    json: { ...held.json, cancellations: cancellations.map(explainOutcome) },
    text: `${held.text}\n\n${formatTable(rows, 'No payment was pending.')}`,
    ...(open > 0 && { failure: `${open} of ${cancellations.length} were not cancelled.` }),
  };
}

function addRelease(merchants: LunasCommand): void {
  merchants
    .command('release <merchant-id>')
    .description("end a merchant's hold: payments whose settlement is due are settled")
    .requiredOption('--note <text>', 'why, for the audit log')
    .examples('lunas merchants release MERCHANT_ID --note "case 4711 is closed"')
    .writeAction(z.object({ merchantId: id, note }), ({ merchantId }, audit, context) =>
      withTemporal(context, audit.db, async (workflows) => {
        const { db, log } = audit;
        const released = await runOperation(audit, releaseMerchant, { db, log, workflows }, on(merchantId));
        return merchantDetails(requireDone(released));
      }),
    );
}

/** Removes a setting of the checkout page. */
const NONE = 'none';

const contactOption = textUpTo(MAX_CONTACT_CHARACTERS).refine(
  (text) => text === NONE || contactHref(text) !== null,
  `must be an e-mail address, a telephone number or an https address, or ${NONE}`,
);

function addSet(merchants: LunasCommand): void {
  const input = z
    .object({
      merchantId: id,
      feePayer: oneOf(FEE_PAYERS).optional(),
      provider: z.array(oneOf(PROVIDERS)).optional(),
      paymentMethod: oneOf(PAYMENT_METHOD_STATUSES).optional(),
      returnUrl: textUpTo(MAX_URL_CHARACTERS).optional(),
      contact: contactOption.optional(),
      checkoutOrigin: z.array(textUpTo(MAX_URL_CHARACTERS)).max(MAX_ORIGINS, TOO_MANY_ORIGINS).optional(),
    })
    .refine((options) => Object.values(options).filter((value) => value !== undefined).length > 1, {
      error: 'needs --fee-payer, --provider, --payment-method, --return-url, --contact or --checkout-origin',
    });
  merchants
    .command('set <merchant-id>')
    .description('change how a merchant takes payments; absent options keep their values')
    .option('--fee-payer <payer>', `who pays the fee of new payments: ${joinOptions(FEE_PAYERS)}`)
    .option('--provider <provider>', `${joinOptions(PROVIDERS)}; repeat for both`, collect)
    .option('--payment-method <status>', `whether qris may be used: ${joinOptions(PAYMENT_METHOD_STATUSES)}`)
    .option(
      '--return-url <url>',
      `the checkout page's link to the shop, or ${NONE}; ${REFERENCE_PLACEHOLDER} is replaced`,
    )
    .option('--contact <contact>', `an e-mail address, telephone number or page of the shop, or ${NONE}`)
    .option('--checkout-origin <origin>', `may show the checkout page in a frame, or ${NONE}; repeat for more`, collect)
    .examples(
      'lunas merchants set MERCHANT_ID --fee-payer buyer',
      'lunas merchants set MERCHANT_ID --provider gopay --provider shopeepay',
      `lunas merchants set MERCHANT_ID --return-url "https://shop.example/orders/${REFERENCE_PLACEHOLDER}"`,
      'lunas merchants set MERCHANT_ID --checkout-origin https://shop.example',
    )
    .writeAction(input, async (options, audit, _context, environment) => {
      const { merchantId, feePayer, provider, checkoutOrigin, ...changes } = options;
      const settings = {
        paymentMethod: changes.paymentMethod,
        providers: provider,
        returnUrl: changes.returnUrl === NONE ? null : changes.returnUrl,
        contact: changes.contact === NONE ? null : changes.contact,
        checkoutOrigins: checkoutOrigin?.length === 1 && checkoutOrigin[0] === NONE ? [] : checkoutOrigin,
      };
      const path = { merchant: merchantId };
      const { db, log } = audit;
      const set = async () =>
        requireDone(await runOperation(audit, setMerchant, { db, log, environment }, { path, input: settings }));
      if (feePayer === undefined) return merchantDetails(await set());
      if (Object.values(settings).some((value) => value !== undefined)) await set();
      return merchantDetails(requireDone(await runOperation(audit, setFeePayer, audit, { path, input: { feePayer } })));
    });
}

function addRemoveLogo(merchants: LunasCommand): void {
  merchants
    .command('remove-logo <merchant-id>')
    .description("remove a merchant's logo from its checkout page")
    .requiredOption('--note <text>', 'why, for the audit log')
    .examples('lunas merchants remove-logo MERCHANT_ID --note "the logo of a bank, case 4711"')
    .writeAction(z.object({ merchantId: id, note }), async ({ merchantId }, audit) => {
      requireDone(await runOperation(audit, removeLogo, audit, on(merchantId)));
      return { json: { merchantId }, text: `The checkout page of merchant ${merchantId} has no logo.` };
    });
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
      'On hold since': merchant.heldAt,
      'Return URL': merchant.returnUrl,
      Contact: merchant.contact,
      'Checkout origins': merchant.checkoutOrigins,
    }),
  };
}
