import type { Command } from 'commander';
import type { Home, Run } from '../../embedded/home';

export function addUpCommand(program: Command): void {
  program
    .command('up')
    .description('run everything here: PostgreSQL, Temporal with its Web UI, the sandbox, the API and the worker')
    .option('--json', 'print one JSON document when ready')
    .action(async ({ json }: { json?: true }) => {
      const { runEmbedded } = await import('../run-embedded.js');
      await runEmbedded(['sandbox', 'worker', 'api'], json ? runAsJson : upText);
    });
}

export function runAsJson(run: Run): string {
  return JSON.stringify(run, null, 2);
}

/** Where everything is, as a person wants to read it. */
export function addressesText(run: Run, home: Home): string {
  const rows = [
    ['API', run.api_url],
    [
      'Temporal',
      run.temporal_ui_url ? `${run.temporal_ui_url} (Web UI), ${run.temporal_address}` : run.temporal_address,
    ],
    ['Sandbox', `${run.sandbox_url} (open it in a browser to pay)`],
    ['Data', home.folder],
    ['Logs', home.logs],
    ['Merchant', run.merchant_id],
    ['Secret key', run.secret_key],
  ] as const;
  return rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n');
}

/** Creates a payment, as often as it is pasted. */
export function createPaymentCommand(run: Run): string {
  const body = JSON.stringify({ amount: 50_000, merchant_reference_id: 'ORDER-1' });
  const headers = [`Authorization: Bearer ${run.secret_key}`, 'Content-Type: application/json'];
  return `curl -sS ${run.api_url}/payments ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${body}'`;
}

function upText(run: Run, home: Home): string {
  return `
Lunas is ready.

${addressesText(run, home)}

Create a payment:

  ${createPaymentCommand(run)}

Pay it with the reference_id of the answer, or by the Pay button of the sandbox page:

  npx lunas sandbox pay REFERENCE_ID

Ctrl-C stops everything; the data stays for the next start.`;
}
