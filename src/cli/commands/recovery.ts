import { z } from 'zod';
import { readRecoveryMode, type RecoveryMode } from '../../db/operations/recovery-mode';
import { requireDone } from '../../services/operations/require-done';
import { beginRecovery, endRecoveryMode } from '../../services/recovery/recovery-mode';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { note } from '../option-schemas';
import { formatFields, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

const NOTE_OPTION = ['--note <text>', 'why, for the audit log'] as const;

const endInput = z.object({ note, lostNothing: z.boolean().default(false) });

export function defineRecovery(recovery: LunasCommand): void {
  recovery
    .command('begin')
    .description('begin recovery mode: within 2 s no worker settles or refunds')
    .requiredOption(...NOTE_OPTION)
    .examples('lunas recovery begin --note "restored the backup of 09:17, incident 12"')
    .writeAction(z.object({ note }), async (_, audit) =>
      recoveryDetails(requireDone(await runOperation(audit, beginRecovery, audit, { path: {}, input: {} }))),
    );
  recovery
    .command('end')
    .description("end recovery mode, record PostgreSQL's timeline, and continue what was deferred")
    .requiredOption(...NOTE_OPTION)
    .option('--lost-nothing', 'PostgreSQL has everything: a planned switch, or a synchronous standby')
    .examples(
      'lunas recovery end --note "recovered and reconciled, incident 12"',
      'lunas recovery end --lost-nothing --note "planned switch"',
    )
    .writeAction(endInput, ({ note, lostNothing: hasLostNothing }, { db, log, actor }, context) =>
      withTemporal(context, db, async (workflows) => {
        const continued = await endRecoveryMode({ db, log, workflows }, actor, { note, hasLostNothing });
        const ended = recoveryDetails(await readRecoveryMode(db));
        return { json: { ...ended.json, continued }, text: `${ended.text}\n\n${continued} payments continue.` };
      }),
    );
  recovery
    .command('status')
    .description('show whether recovery mode is on, who began it, and the timeline of PostgreSQL')
    .databaseAction(z.object({}), async (_, db) => recoveryDetails(await readRecoveryMode(db)));
}

function recoveryDetails(mode: RecoveryMode): CommandResult & { readonly json: object } {
  return {
    json: { recovery: mode },
    text: formatFields({
      'Recovery mode': mode.isOn ? 'on: nothing is settled or refunded' : 'off',
      Begun: mode.begunAt,
      By: mode.begunBy,
      Reason: mode.reason,
      Ended: mode.isOn ? null : mode.endedAt,
      Next: mode.isOn ? 'lunas recover, lunas reconcile, lunas recovery end' : null,
      'Timeline of PostgreSQL': mode.timeline,
      'Recorded timeline': mode.recordedTimeline,
    }),
  };
}
