import { z } from 'zod';
import { WEBHOOK_EVENTS } from '../../domain/events';
import { onStopSignal } from '../../local-stack/stop-signals';
import { readListenKey } from '../listen/listen-key';
import { openListenState } from '../listen/listen-state';
import { Listener } from '../listen/listener';
import { jsonReport, textReport } from '../listen/report';
import { collect, type LunasCommand } from '../lunas-command';
import { httpUrl, joinOptions, oneOf } from '../option-schemas';

const input = z.object({
  key: z.string().optional(),
  keyFile: z.string().optional(),
  forwardTo: httpUrl,
  event: z.array(oneOf(WEBHOOK_EVENTS)).default([]),
  apiUrl: httpUrl.optional(),
  printJson: z.boolean().default(false),
});

export function defineListen(listen: LunasCommand): void {
  listen
    .option('--key-file <path>', 'a file with a secret key of the merchant (default: LUNAS_KEY)')
    .option('--key <secret-key>', 'the key itself, which every user of this machine can then see')
    .requiredOption('--forward-to <url>', 'the address of your webhook receiver')
    .option('--event <event>', `${joinOptions(WEBHOOK_EVENTS)}; repeat for more (default: all of payments)`, collect)
    .option('--api-url <url>', 'the address of the API (default: PUBLIC_BASE_URL, else that of the running lunas up)')
    .option('--print-json', 'print one line of JSON for each event, after a first line with the secret')
    .examples(
      'LUNAS_KEY=sk_test_… lunas listen --forward-to http://localhost:4000/webhooks',
      'lunas listen --key-file key.txt --forward-to http://localhost:4000/paid --event payment.paid',
    )
    .addHelpText('after', EXPLANATION)
    .runningAction(input, async ({ forwardTo, event, apiUrl, printJson, ...given }, context) => {
      const key = await readListenKey(given, context.config.LUNAS_KEY);
      const { stdout, stderr } = listen.terminal;
      const stopping = new AbortController();
      const stop = () => stopping.abort();
      const removeListeners = onStopSignal(stop, () => process.exit(1));
      const state = await openListenState(context.dataDirectory, key);
      try {
        await new Listener({
          apiUrl: apiUrl ?? (await context.apiUrl()),
          key,
          forwardTo,
          events: event,
          state,
          report: (printJson ? jsonReport : textReport)(stdout, stderr),
        }).run(stopping.signal);
      } finally {
        removeListeners();
        await state.close();
      }
    });
}

const EXPLANATION = `
Events are forwarded one after another, signed with the secret that is printed first. It stays the same for this key.
An event counts as forwarded when your server sends a response, whatever its status. While your server cannot be
reached, the event is sent again. The same command continues after the last forwarded event, however it ended.`;
