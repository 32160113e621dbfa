import type { Client, WorkflowHandle } from '@temporalio/client';
import { z } from 'zod';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** The names of timers and scheduled activities in the Web UI's timeline, in order; null for one without a name. */
export async function timelineNames(client: Client, history: History): Promise<(string | null)[]> {
  const { payloadCodecs } = client.options.loadedDataConverter;
  const shown = (history.events ?? []).filter(
    (event) => event.timerStartedEventAttributes ?? event.activityTaskScheduledEventAttributes,
  );
  return Promise.all(
    shown.map(async ({ userMetadata }) => {
      if (!userMetadata?.summary) return null;
      let payloads = [userMetadata.summary];
      for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
      return z.string().parse(JSON.parse(Buffer.from(payloads[0]?.data ?? []).toString()));
    }),
  );
}

/** Operators read a workflow's timeline: each of its timers and activities has a name there. */
export async function expectNamedTimeline(client: Client, workflowId: string): Promise<void> {
  const names = await timelineNames(client, await client.workflow.getHandle(workflowId).fetchHistory());
  expect(names.filter((name) => name === null)).toEqual([]);
}
