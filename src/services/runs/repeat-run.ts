import { z } from 'zod';
import { RUN_KINDS } from '../../domain/daily-runs';
import type { RunClient } from '../../temporal/scheduled-runs';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, notKnown } from '../operations/rejections';

export interface RepeatNeeds extends AuditDependencies {
  readonly workflows: { readonly runs: Pick<RunClient, 'repeat'> };
}

/** Runs a scheduled job now. What an earlier run of the day has done is not done twice. */
export const repeatRun = new Operation({
  name: 'run.repeat',
  operator: 'all',
  path: z.object({ kind: z.enum(RUN_KINDS) }),
  input: z.object({}),
  rejections: {},
  messages: {},
  load: (_needs: RepeatNeeds, _scope, { kind }) => Promise.resolve(kind),
  target: ({ subject: kind }) => kind,
  async perform({ needs: { workflows }, subject: kind }) {
    const result = await workflows.runs.repeat(kind).catch(notKnown);
    return typeof result === 'string' ? done({ workflowId: result }) : result;
  },
});
