import type { Command } from 'commander';
import type { DataDirectory } from '../../local-stack/data-directory';
import type { RunFile } from '../../local-stack/run-file';

export function addUpCommand(program: Command): void {
  program
    .command('up')
    .description('run PostgreSQL, Temporal with its Web UI, the sandbox, the API and the worker')
    .option('--json', 'print one JSON document when ready')
    .action(async ({ json }: { json?: true }) => {
      const { runLocalStack } = await import('../run-local-stack.js');
      await runLocalStack(['sandbox', 'worker', 'api'], json ? renderJson : renderUp);
    });
}

export function renderJson(runFile: RunFile): string {
  return JSON.stringify(runFile, null, 2);
}

/** The addresses and secrets of the stack as text. */
export function renderAddresses(runFile: RunFile, dataDirectory: DataDirectory): string {
  const rows = [
    ['API', runFile.api_url],
    [
      'Temporal',
      runFile.temporal_ui_url
        ? `${runFile.temporal_ui_url} (Web UI), ${runFile.temporal_address}`
        : runFile.temporal_address,
    ],
    ['Sandbox', `${runFile.sandbox_url} (open it in a browser to pay)`],
    ['Data', dataDirectory.path],
    ['Logs', dataDirectory.logs],
    ['Merchant', runFile.merchant_id],
    ['Secret key', runFile.secret_key],
  ] as const;
  return rows.map(([name, value]) => `  ${name.padEnd(12)}${value}`).join('\n');
}

/** A command that creates a payment at each execution. */
export function createPaymentCommand(runFile: RunFile): string {
  const body = JSON.stringify({ amount: 50_000, merchant_reference_id: 'ORDER-1' });
  const headers = [`Authorization: Bearer ${runFile.secret_key}`, 'Content-Type: application/json'];
  return `curl -sS ${runFile.api_url}/payments ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${body}'`;
}

function renderUp(runFile: RunFile, dataDirectory: DataDirectory): string {
  return `
Lunas is ready.

${renderAddresses(runFile, dataDirectory)}

Create a payment:

  ${createPaymentCommand(runFile)}

Pay it with the reference_id of the response, or with the Pay button of the sandbox page:

  npx lunas sandbox pay REFERENCE_ID

Ctrl-C stops everything; the data stays for the next start.`;
}
