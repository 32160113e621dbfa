import type { Command } from 'commander';
import { z } from 'zod';
import { MAX_TOTAL_RUPIAH, formatRupiah } from '../../domain/money';
import { SETTLEMENT_KINDS } from '../../domain/payment';
import { PAYMENT_METHODS, PROVIDERS } from '../../domain/provider-capabilities';
import { listPolicies, type PolicyVersion, setPolicy } from '../../operator/catalog';
import { withCommandAudit } from '../operator-identity';
import { defineAction, withExamples } from '../command-action';
import { formatDuration } from '../duration';
import { durationFrom, joinOptions, oneOf, wholeNumber } from '../option-schemas';
import { formatTable } from '../output';
import { withDatabase } from '../command-context';
import type { Terminal } from '../terminal';

export function addCatalogCommand(program: Command, terminal: Terminal): void {
  const catalog = program.command('catalog').description('fees and settlement, by provider and channel');
  addSet(catalog, terminal);
  addList(catalog, terminal);
}

function addSet(catalog: Command, terminal: Terminal): void {
  const command = catalog
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
    .option('--expires-in <duration>', 'how long a customer can pay (initially 15m)');
  withExamples(
    command,
    'lunas catalog set --provider gopay --channel qris --fee-bps 70 --settlement-delay 1d',
    'lunas catalog set --provider shopeepay --channel qris --settlement manual --expires-in 30m',
  );
  const input = z.object({
    provider: oneOf(PROVIDERS),
    channel: oneOf(PAYMENT_METHODS),
    feeBps: wholeNumber(0, 10_000).optional(),
    feeFlat: wholeNumber(0, MAX_TOTAL_RUPIAH).optional(),
    settlement: oneOf(SETTLEMENT_KINDS).optional(),
    settlementDelay: durationFrom(0).optional(),
    expiresIn: durationFrom(1).optional(),
  });
  defineAction(command, terminal, input, (given, context) =>
    withDatabase(context, async (db) => {
      const change = {
        provider: given.provider,
        channel: given.channel,
        feeBasisPoints: given.feeBps,
        feeFlatRupiah: given.feeFlat,
        settlementKind: given.settlement,
        settlementDelaySeconds: given.settlementDelay,
        expiresInSeconds: given.expiresIn,
      };
      const policyName = `${given.provider} ${given.channel}`;
      const policy = await withCommandAudit(db, 'catalog.set', policyName, () => setPolicy(db, change));
      return { json: { policy }, text: renderPolicies([policy]) };
    }),
  );
}

function addList(catalog: Command, terminal: Terminal): void {
  const command = catalog.command('list').description('list the policies in force');
  defineAction(command, terminal, z.object({}), (_, context) =>
    withDatabase(context, async (db) => {
      const policies = await listPolicies(db);
      return { json: { policies }, text: renderPolicies(policies) };
    }),
  );
}

function renderPolicies(policies: readonly PolicyVersion[]): string {
  const columns = {
    PROVIDER: (policy: PolicyVersion) => policy.provider,
    CHANNEL: (policy: PolicyVersion) => policy.channel,
    VERSION: (policy: PolicyVersion) => policy.version,
    FEE: (policy: PolicyVersion) => `${policy.feeBasisPoints} bps + ${formatRupiah(policy.feeFlatRupiah)}`,
    SETTLEMENT: (policy: PolicyVersion) =>
      `${policy.settlementKind} after ${formatDuration(policy.settlementDelaySeconds)}`,
    'EXPIRES IN': (policy: PolicyVersion) => formatDuration(policy.expiresInSeconds),
  };
  return formatTable(policies, columns, 'There is no policy yet, so no payment can be created; see lunas catalog set.');
}
