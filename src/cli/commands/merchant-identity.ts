import { z } from 'zod';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { UserError } from '../../errors';
import { identifyMerchant } from '../../services/merchants/identify-merchant';
import {
  findIdentity,
  requireIdentity,
  type IdentityDetails,
  type MerchantIdentity,
} from '../../services/merchants/merchant-identity';
import { showIdentity } from '../../services/merchants/show-identity';
import { requireDone } from '../../services/operations/require-done';
import { howToApprove } from '../error-hints';
import { readIdentityFile } from '../identity-file';
import type { LunasCommand } from '../lunas-command';
import { id, note, wholeNumber } from '../option-schemas';
import { formatFields, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const MAX_VERSION = 1_000_000;

/** What is shown instead of the sealed details. */
const NOT_REVEALED = {
  legalName: null,
  ownerName: null,
  ownerIdNumber: null,
  taxNumber: null,
  address: null,
  village: null,
  district: null,
  city: null,
  postalCode: null,
  documents: null,
} as const satisfies Record<keyof IdentityDetails, null>;

export function addIdentityCommands(merchants: LunasCommand): void {
  merchants
    .command('identify <merchant-id>')
    .description('set who a merchant is, from a JSON file; in production a second operator approves it')
    .requiredOption('--file <file>', 'a JSON object with every key; - is standard input')
    .examples('lunas merchants identify MERCHANT_ID --file identity.json --note "contract 12"')
    .writeAction(z.object({ merchantId: id, file: z.string() }), async ({ merchantId, file }, audit, context) => {
      const { db, log } = audit;
      const { nmid, ...input } = await readIdentityFile(file);
      const needs = { db, log, loadSealer: () => context.sealer(db) };
      const result = await runOperation(audit, identifyMerchant, needs, { path: { merchantId, nmid }, input });
      if (result.outcome !== 'waits') return identityResult(requireDone(result));
      const { approvalId } = result;
      const text = `The identity of merchant ${merchantId} is not in force yet: ${howToApprove(approvalId)}`;
      return { json: { merchantId, approvalId }, text };
    });
  const identity = merchants
    .command('identity <merchant-id>')
    .description('show who a merchant is')
    .option('--version <n>', 'that version (default: the one in force, else the newest)')
    .option('--reveal', 'with what is sealed; the audit log has who read it')
    .option('--note <text>', 'why, for the audit log')
    .examples('lunas merchants identity MERCHANT_ID --reveal --note "case 4711"');
  identity.databaseAction(
    z.object({
      merchantId: id,
      version: wholeNumber(1, MAX_VERSION).optional(),
      reveal: z.boolean().default(false),
      note: note.optional(),
    }),
    async ({ merchantId, version, reveal, note }, db, context, environment) => {
      if (!reveal) {
        await requireMerchant(db, merchantId);
        const find = version === undefined ? findIdentity : requireIdentity;
        return identityResult(await find(db, merchantId, version));
      }
      if (note === undefined) throw new UserError('--reveal needs a reason: add --note "…".');
      const audit = await identity.auditOf(db, context, environment, { note });
      const needs = { db, log: audit.log, sealer: await context.sealer(db) };
      const path = { merchant: merchantId, version };
      return identityResult(requireDone(await runOperation(audit, showIdentity, needs, { path, input: {} })));
    },
  );
}

function identityResult(identity: (MerchantIdentity & { readonly details?: IdentityDetails }) | null): CommandResult {
  if (identity === null) return { json: { identity: null }, text: 'The merchant has no identity.' };
  const { details = NOT_REVEALED, ...shown } = identity;
  return {
    json: { identity: { ...shown, details } },
    text: formatFields({
      Merchant: shown.merchantId,
      Version: shown.version,
      'Trading name': shown.tradingName,
      Class: shown.class,
      Category: shown.category,
      Criterion: shown.criterion,
      NMID: shown.nmid,
      'Valid until': shown.validUntil,
      'In force since': shown.inForceFrom,
      'Legal name': details.legalName,
      Owner: details.ownerName,
      'ID number': details.ownerIdNumber,
      'Tax number': details.taxNumber,
      Address: details.address,
      Village: details.village,
      District: details.district,
      City: details.city,
      'Postal code': details.postalCode,
      Documents: details.documents,
    }),
  };
}
