import { z } from 'zod';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../domain/money';
import { SETTLEMENT_KINDS } from '../../domain/payment';
import { PAYMENT_METHODS, PROVIDERS } from '../../domain/provider-capabilities';
import { requireDone } from '../../services/operations/require-done';
import { listPolicies, type PolicyVersion } from '../../services/provider-accounts/catalog';
import { setCatalog } from '../../services/provider-accounts/set-catalog';
import { formatDuration } from '../duration';
import type { LunasCommand } from '../lunas-command';
import { durationFrom, joinOptions, oneOf, wholeNumber } from '../option-schemas';
import { formatTable } from '../output';
import { runOperation } from '../run-operation';

export function defineCatalog(catalog: LunasCommand): void {
  addSet(catalog);
  catalog
    .command('list')
    .description('list the policies in force')
    .databaseAction(z.object({}), async (_, db) => {
      const policies = await listPolicies(db);
      return { json: { policies }, text: renderPolicies(policies) };
    });
}

function addSet(catalog: LunasCommand): void {
  const input = z.object({
    provider: oneOf(PROVIDERS),
    channel: oneOf(PAYMENT_METHODS),
    feeBps: wholeNumber(0, 10_000).optional(),
    feeFlat: wholeNumber(0, MAX_TOTAL_RUPIAH).optional(),
    settlement: oneOf(SETTLEMENT_KINDS).optional(),
    settlementDelay: durationFrom(0).optional(),
    expiresIn: durationFrom(1).optional(),
  });
  catalog
    .command('set')
    .description(
      'write a new version of a policy; absent options keep their values, existing payments keep their policy',
    )
    .requiredOption('--provider <provider>', joinOptions(PROVIDERS))
    .requiredOption('--channel <channel>', joinOptions(PAYMENT_METHODS))
    .option('--fee-bps <n>', 'basis points of the amount (initially 70)')
    .option('--fee-flat <rupiah>', 'added to the basis points (initially 0)')
    .option('--settlement <kind>', `${joinOptions(SETTLEMENT_KINDS)} (initially automatic)`)
    .option('--settlement-delay <duration>', 'from the payment to its settlement (initially 1d)')
    .option('--expires-in <duration>', 'how long a customer can pay (initially 15m)')
    .examples(
      'lunas catalog set --provider gopay --channel qris --fee-bps 70 --settlement-delay 1d',
      'lunas catalog set --provider shopeepay --channel qris --settlement manual --expires-in 30m',
    )
    .writeAction(input, async ({ provider, channel, ...terms }, audit) => {
      const input = {
        feeBasisPoints: terms.feeBps,
        feeFlatRupiah: terms.feeFlat,
        settlementKind: terms.settlement,
        settlementDelaySeconds: terms.settlementDelay,
        expiresInSeconds: terms.expiresIn,
      };
      const result = await runOperation(audit, setCatalog, audit, { path: { provider, channel }, input });
      const policy = requireDone(result);
      return { json: { policy }, text: renderPolicies([policy]) };
    });
}

function renderPolicies(policies: readonly PolicyVersion[]): string {
  return formatTable(
    policies.map((policy) => ({
      PROVIDER: policy.provider,
      CHANNEL: policy.channel,
      VERSION: policy.version,
      FEE: `${policy.feeBasisPoints} bps + ${formatRupiah(policy.feeFlatRupiah)}`,
      SETTLEMENT: `${policy.settlementKind} after ${formatDuration(policy.settlementDelaySeconds)}`,
      'EXPIRES IN': formatDuration(policy.expiresInSeconds),
    })),
    'There is no policy yet, so no payment can be created; see lunas catalog set.',
  );
}
